#include "etagere/exchange/search_rules.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

http::request_head asking(std::string_view target, std::string_view host = "api.test") {
    http::request_head made;
    made.scheme = "http";
    made.host = host;
    made.port = 80;
    made.target = target;
    return made;
}

cache::search_variance rule(std::string name) {
    cache::search_variance made;
    made.names = {std::move(name)};
    made.text = "params=(\"" + made.names[0] + "\")";
    return made;
}

TEST(SearchRules, AreKnownByPath) {
    search_rules rules;
    EXPECT_EQ(rules.find("r", asking("/p?a=1")), nullptr);
    rules.learn("r", asking("/p?a=1"), rule("a"));
    const search_rule known = rules.find("r", asking("/p?b=2"));
    ASSERT_TRUE(known);
    EXPECT_EQ(*known, rule("a"));
    EXPECT_EQ(rules.find("r", asking("/p")), known);
    EXPECT_EQ(rules.find("r", asking("/p/")), nullptr);
    EXPECT_EQ(rules.find("other", asking("/p")), nullptr);
    EXPECT_EQ(rules.find("r", asking("/p", "other.test")), nullptr);
}

TEST(SearchRules, TheLastOneCounts) {
    search_rules rules;
    rules.learn("r", asking("/p"), rule("a"));
    const search_rule before = rules.find("r", asking("/p"));
    rules.learn("r", asking("/p"), rule("a"));
    EXPECT_EQ(rules.find("r", asking("/p")), before) << "nothing new is nothing to do";
    rules.learn("r", asking("/p"), rule("b"));
    EXPECT_EQ(*rules.find("r", asking("/p")), rule("b"));
    EXPECT_EQ(*before, rule("a")) << "who holds one keeps it";
}

// Nobody can make the table grow, and what is used stays.
TEST(SearchRules, AreBounded) {
    search_rules rules;
    rules.learn("r", asking("/used"), rule("a"));
    constexpr std::size_t places = search_rules::sets * search_rules::ways;
    for (std::size_t i = 0; i < 2 * places; ++i) {
        rules.learn("r", asking("/" + std::to_string(i)), rule("a"));
        ASSERT_TRUE(rules.find("r", asking("/used")));
    }
    std::size_t known = 0;
    for (std::size_t i = 0; i < 2 * places; ++i) known += rules.find("r", asking("/" + std::to_string(i))) ? 1U : 0U;
    EXPECT_LT(known, places);
    EXPECT_GT(known, places * 9 / 10);
}

}  // namespace
}  // namespace etagere::exchange
