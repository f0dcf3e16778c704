// What the JSON and the text of an account share. Room-internal.
#pragma once

#include "etagere/exchange/explain.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace etagere::exchange {

/// Response fields that say something about storing and that hold no secrets; in this order.
std::vector<std::pair<std::string, std::string>> told_fields(const http::fields& header, const cache::policy& rules);

/// The value of a request field as it may be shown: that of a credential is not.
std::string shown_value(std::string_view name, std::string_view value);
/// Of a selecting field: that of a credential is a digest.
std::string shown_selector(const cache::selection::entry& s);

/// "xxh3-128:…" of the body, "" where it is not here.
std::string body_digest(const store::object& o);

/// What to change: that of the decision, or of what is remembered of the key.
reason told_reason(const account& a) noexcept;

std::string url_of(const account& a);
std::string_view name(cache::reuse_action a) noexcept;
std::string_view name(cache::request_class c) noexcept;

}  // namespace etagere::exchange
