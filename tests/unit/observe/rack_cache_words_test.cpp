// Which of Rack::Cache's words belong to which record. That they are the same as its own: tests/e2e.
#include "etagere/observe/record.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

struct words_case {
    const char* name;
    reason why;
    looked_up found;
    int upstream_status;
    bool stored, freshened, ignored;
    const char* words;
};
void PrintTo(const words_case& c, std::ostream* out) {
    *out << c.name;
}

class RackCacheWords : public testing::TestWithParam<words_case> {};

TEST_P(RackCacheWords, AreThose) {
    const words_case& c = GetParam();
    record r;
    r.why = c.why;
    r.found = c.found;
    r.upstream_status = c.upstream_status;
    r.stored = c.stored;
    r.freshened = c.freshened;
    r.ignored = c.ignored;
    std::string out = "[";
    append_rack_cache_words(out, r);
    EXPECT_EQ(out, std::string("[") + c.words);
}

constexpr auto no = looked_up::no;
constexpr auto nothing = looked_up::nothing;
constexpr auto stored = looked_up::stored;
constexpr auto reload = looked_up::reload;

INSTANTIATE_TEST_SUITE_P(
    All, RackCacheWords,
    testing::Values(
        words_case{"Fresh", reason::hit_fresh, no, 0, false, false, false, "fresh"},
        words_case{"FreshNotModified", reason::hit_not_modified, stored, 0, false, false, false, "fresh"},
        words_case{"Miss", reason::miss_cold, nothing, 200, true, false, false, "miss, store"},
        words_case{"MissThatWasNotKept", reason::miss_cold, nothing, 200, false, false, false, "miss"},
        words_case{"MissWithCookie", reason::miss_cold, nothing, 200, true, false, true, "miss, ignore, store"},
        words_case{"MissPrivate", reason::nostore_private, nothing, 200, false, false, false, "miss"},
        words_case{"MissStream", reason::pass_stream, nothing, 200, false, false, false, "miss"},
        words_case{"MissRange", reason::pass_range, nothing, 206, false, false, false, "miss"},
        words_case{"Valid", reason::revalidated, stored, 304, false, true, false, "stale, valid, store"},
        words_case{"ValidButWithdrawn", reason::revalidated, stored, 304, false, false, false, "stale, valid"},
        words_case{"Invalid", reason::revalidated_changed, stored, 200, true, false, false, "stale, invalid, store"},
        words_case{"InvalidPrivate", reason::nostore_private, stored, 200, false, false, false, "stale, invalid"},
        words_case{"InvalidCookie", reason::revalidated_changed, stored, 200, true, false, true,
                   "stale, invalid, ignore, store"},
        words_case{"Reload", reason::revalidated_changed, reload, 200, true, false, false, "reload, store"},
        words_case{"ReloadNotKept", reason::nostore_no_store, reload, 200, false, false, false, "reload"},
        words_case{"ReloadValid", reason::revalidated, reload, 304, false, true, false, "reload, valid, store"},
        words_case{"Pass", reason::pass_method, no, 200, false, false, false, "pass"},
        words_case{"PassStreamRoute", reason::pass_stream, no, 200, false, false, false, "pass"},
        words_case{"Invalidate", reason::invalidated, no, 201, false, false, false, "invalidate, pass"},
        words_case{"StaleRefreshing", reason::hit_stale_revalidating, stored, 0, false, false, false, "stale"},
        words_case{"StaleError", reason::hit_stale_error, stored, 503, false, false, false, "stale"},
        words_case{"StaleNoAnswer", reason::hit_stale_error, stored, 0, false, false, false,
                   "stale, connnection_failed"},
        words_case{"Follower", reason::collapsed_local, nothing, 0, false, false, false, "collapsed_local"},
        words_case{"NoAnswer", reason::failed, stored, 0, false, false, false, "failed"},
        words_case{"CutAnswer", reason::failed, nothing, 200, false, false, false, "failed"},
        words_case{"OnlyIfCached", reason::only_if_cached, nothing, 0, false, false, false, "only_if_cached"}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace etagere::observe
