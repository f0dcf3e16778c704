// Names of groups, and the fields that hold them: Surrogate-Key, and RFC 9875.
#include "etagere/cache/purging.hpp"

#include "support.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace etagere::cache {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

group_id first_group(void (*purge)(std::vector<purge_target>&, std::string_view), std::string_view name) {
    std::vector<purge_target> out;
    purge(out, name);
    return out.front().group;
}

bool has_tag(const field_list& header, std::string_view tag) {
    stored_response r;
    r.header = make_fields(header);
    policy rules;
    rules.tag_fields = {"Surrogate-Key", "Cache-Groups"};
    rules.tags = {"of-the-route"};
    collect_tags(r, make_request(), rules);
    EXPECT_TRUE(std::ranges::is_sorted(r.rest->tags));
    return std::ranges::binary_search(r.rest->tags, first_group(purge_tag, tag));
}

struct tag_case {
    const char* name;
    field_list header;
    std::string_view tag;
    bool there;
};
class Tags : public ::testing::TestWithParam<tag_case> {};

TEST_P(Tags, AreFound) {
    EXPECT_EQ(has_tag(GetParam().header, GetParam().tag), GetParam().there);
}
INSTANTIATE_TEST_SUITE_P(
    Fields, Tags,
    ::testing::Values(tag_case{"OfTheRoute", {}, "of-the-route", true},
                      tag_case{"SeparatedBySpaces", {{"Surrogate-Key", "a  b\tc"}}, "b", true},
                      tag_case{"OnSeveralLines", {{"Surrogate-Key", "a"}, {"surrogate-key", "b"}}, "b", true},
                      tag_case{"JoinedOnTheWay", {{"Surrogate-Key", "a b, c"}}, "b", true},
                      tag_case{"WithACommaInside", {{"Surrogate-Key", "a,b"}}, "a,b", true},
                      tag_case{"CaseMatters", {{"Surrogate-Key", "a"}}, "A", false},
                      tag_case{"NotPartsOfThem", {{"Surrogate-Key", "ab"}}, "a", false},
                      tag_case{"OtherFieldsDoNot", {{"Cache-Tag", "a"}}, "a", false},
                      tag_case{"Groups", {{"Cache-Groups", R"("a", "b c")"}}, "b c", true},
                      tag_case{
                          "GroupsOnSeveralLines", {{"Cache-Groups", R"("a")"}, {"Cache-Groups", R"("b")"}}, "b", true},
                      tag_case{"GroupsWithParameters", {{"Cache-Groups", R"("a";q=1)"}}, "a", true},
                      tag_case{"GroupsWithEscapes", {{"Cache-Groups", R"("a\"b")"}}, "a\"b", true},
                      tag_case{"GroupsAreStrings", {{"Cache-Groups", R"("a", b)"}}, "a", false},
                      tag_case{"GroupsAreNoInnerLists", {{"Cache-Groups", R"(("a"))"}}, "a", false},
                      tag_case{"GroupsThatDoNotParse", {{"Cache-Groups", R"("a", )"}}, "a", false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(CacheGroups, AreOfOneOrigin) {
    const auto group_at = [](std::string_view scheme, std::string_view host, std::uint16_t port) {
        http::request_head r = make_request();
        r.scheme = scheme;
        r.host = host;
        r.port = port;
        std::vector<purge_target> out;
        purge_cache_group(out, r, "a");
        return out.front().group;
    };
    EXPECT_EQ(group_at("http", "h", 80), group_at("http", "h", 80));
    EXPECT_NE(group_at("http", "h", 80), group_at("https", "h", 80));
    EXPECT_NE(group_at("http", "h", 80), group_at("http", "h", 81));
    EXPECT_NE(group_at("http", "h", 80), group_at("http", "i", 80));
    EXPECT_NE(group_at("http", "h", 80), first_group(purge_tag, "a"));
}

TEST(CacheGroups, InvalidationIsForUnsafeRequests) {
    http::response_head answer;
    answer.header = make_fields({{"Cache-Group-Invalidation", R"("a", "b";x)"}});
    EXPECT_THAT(groups_to_invalidate(make_request({}, "POST"), answer), ElementsAre("a", "b"));
    EXPECT_THAT(groups_to_invalidate(make_request({}, "BREW"), answer), ElementsAre("a", "b"));
    for (const auto* const safe : {"GET", "HEAD", "OPTIONS", "TRACE"}) {
        EXPECT_THAT(groups_to_invalidate(make_request({}, safe), answer), IsEmpty()) << safe;
    }
    answer.header = make_fields({{"Cache-Group-Invalidation", "a"}});
    EXPECT_THAT(groups_to_invalidate(make_request({}, "POST"), answer), IsEmpty());
}

TEST(Groups, OfDifferentThingsDiffer) {
    std::vector<purge_target> all;
    purge_url(all, "http", "h", 80, "/a");
    purge_url(all, "http", "h", 81, "/a");
    purge_url(all, "http", "", 80, "/a");
    purge_url(all, "http", "h/a", 80, "");
    purge_tag(all, "/a");
    purge_tag(all, "a");
    purge_prefix(all, "h", "/a");
    purge_prefix(all, "", "/a");
    purge_prefix(all, "h", "/");
    purge_route(all, "/a");
    purge_route(all, "a");
    std::vector<group_id> ids;
    for (const purge_target& t : all) ids.push_back(t.group);
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::unique(ids).size(), 1U) << "two purges by tag have one group in common";
    EXPECT_FALSE(std::ranges::binary_search(ids, everything));
}

TEST(Groups, FollowTheQueryRulesOfTheRoute) {
    policy rules;
    rules.query = {.sort = true, .ignore = {"utm_*"}};
    std::string scratch;
    const auto of = [&](std::string_view target) {
        return groups_of(make_request({}, "GET", target), "r", rules, scratch);
    };
    EXPECT_EQ(of("/a?b=1&c=2&utm_x=1").url, of("/a?c=2&b=1").url);
    EXPECT_NE(of("/a?b=1").url, of("/a?b=2").url);
    EXPECT_EQ(of("/a?b=1").path, of("/a?b=2").path);
}

TEST(DecideReuse, APurgeMakesItStaleOrAbsent) {
    stored_response r;
    r.header = make_fields({{"Cache-Control", "max-age=600"}, {"ETag", "\"v1\""}});
    r.request_time = r.response_time = t0;
    r.index();
    const auto decide = [&](purge_state purge, const policy& rules = {}) {
        return decide_reuse(&r, true, make_request(), rules, t0 + 20s, purge);
    };
    EXPECT_EQ(decide({}).what, reuse_action::serve);
    EXPECT_EQ(decide({purged::hard, {}}).what, reuse_action::fetch);
    EXPECT_EQ(decide({purged::hard, {}}).why, reason::miss_purged);
    EXPECT_EQ(decide({purged::soft, t0 + 10s}).what, reuse_action::validate);
    EXPECT_EQ(decide({purged::soft, t0 + 10s}).ttl, -10s);
    policy rules;
    rules.stale_while_revalidate = 15s;
    EXPECT_EQ(decide({purged::soft, t0 + 10s}, rules).what, reuse_action::serve_revalidate);
    EXPECT_EQ(decide({purged::soft, t0 + 5s}, rules).what, reuse_action::validate) << "stale for longer than that";
    EXPECT_FALSE(may_serve_on_error(r, rules, origin_failure::error_status, t0 + 20s, {purged::soft, t0 + 10s}));
    rules.stale_if_error = 15s;
    EXPECT_TRUE(may_serve_on_error(r, rules, origin_failure::error_status, t0 + 20s, {purged::soft, t0 + 10s}));
    EXPECT_FALSE(may_serve_on_error(r, rules, origin_failure::error_status, t0 + 20s, {purged::soft, t0}));
    EXPECT_FALSE(may_serve_on_error(r, rules, origin_failure::error_status, t0 + 20s, {purged::hard, {}}));
}

}  // namespace
}  // namespace etagere::cache
