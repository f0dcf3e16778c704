// What a file says before short forms and defaults are merged, and the steps from there to settings.
#pragma once

#include "etagere/app/config.hpp"

#include "problems.hpp"
#include "reader.hpp"
#include "tree.hpp"

#include <optional>
#include <vector>

namespace etagere::app::config {

struct defaults {
    settings::cache cache;
    settings::etag etag;
    settings::compress compress;
    settings::headers headers;
};

/// The values of a profile, in place of those that `to` has for the keys that the profile speaks of.
void apply(settings::profile p, settings::cache& to);

struct document {
    settings::settings value;
    std::optional<settings::address> listen;
    std::optional<settings::store> store;
    std::optional<settings::upstream> upstream;
    config::defaults defaults;
};

/// Types only (schema.cpp).
void read_document(reader& r, const node& root, document& out);
/// Short forms, and what is there without being written (complete.cpp).
void complete(document& d, const node& root, problem_list& problems);
/// Names, ranges that need two values, and warnings (checks.cpp).
void check(const settings::settings& s, const node& root, problem_list& problems);

}  // namespace etagere::app::config
