// Profiles: which values of `cache` go together. The differences between them are listed, with the tests of the public
// suite that show each, in src/docs/conformance.md.
#include "document.hpp"

namespace etagere::app::config {

void apply(settings::profile p, settings::cache& to) {
    const bool rfc = p == settings::profile::rfc;
    to.client_directives = rfc ? settings::client_directives::honour : settings::client_directives::ignore;
    to.cookies = rfc ? settings::cookie_rule::plain : settings::cookie_rule::guard;
    to.foreign_codings = rfc;
    to.heuristic = rfc;
    to.stale.if_unreachable = rfc ? milliseconds(std::chrono::hours(24)) : milliseconds{0};
}

}  // namespace etagere::app::config
