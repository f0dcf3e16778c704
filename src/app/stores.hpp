// Stores from their settings, and what they tell the metrics.
#pragma once

#include "etagere/observe/facts.hpp"
#include "etagere/settings/settings.hpp"
#include "etagere/store/store.hpp"

#include <memory>

namespace etagere::app {

std::shared_ptr<store::store> make_store(const settings::store& s);
observe::store_facts facts_of(const std::string& name, const store::store& s);

}  // namespace etagere::app
