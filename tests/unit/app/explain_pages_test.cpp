#include "../../../src/app/explain_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::app {
namespace {

TEST(ExplainQuery, ReadsWhatItWrites) {
    explain_question q;
    q.about.url = "http://a.test/p?x=1&y=+%20ü";
    q.about.method = "PUT";
    q.about.fields = {{"Accept", "a, b"}, {"X", ""}, {"Y", "a:b & c=d"}};
    q.about.as = exchange::role::egress;
    q.as_text = q.colour = true;
    const auto again = read_explain_query(write_explain_query(q));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->about.url, q.about.url);
    EXPECT_EQ(again->about.method, "PUT");
    EXPECT_EQ(again->about.fields, q.about.fields);
    EXPECT_EQ(again->about.as, exchange::role::egress);
    EXPECT_TRUE(again->as_text);
    EXPECT_TRUE(again->colour);
}

TEST(ExplainQuery, ReadsWhatPeopleWrite) {
    const auto q = read_explain_query("url=/p&header=Accept:%20a+b&header=X:y&&format=json");
    EXPECT_FALSE(q) << "an empty parameter is a mistake";
    const auto plain = read_explain_query("url=/p%3Fa%zz&header=Accept:%20a+b");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->about.url, "/p?a%zz");
    EXPECT_EQ(plain->about.fields, (exchange::field_list{{"Accept", "a b"}}));
    EXPECT_EQ(plain->about.method, "GET");
}

TEST(ExplainQuery, RefusesWhatItDoesNotKnow) {
    for (const auto* const query :
         {"", "method=GET", "url=", "url=/&x=y", "url=/&format=xml", "url=/&header=X", "url"}) {
        EXPECT_FALSE(read_explain_query(query)) << query;
    }
}

}  // namespace
}  // namespace etagere::app
