// Was a 304 true?
#include "etagere/cache/audit.hpp"

#include "unit/cache/support.hpp"

namespace etagere::cache {
inline void PrintTo(audit_verdict v, std::ostream* to) {
    *to << "audit_verdict " << static_cast<int>(v);
}
}  // namespace etagere::cache

namespace etagere::cache::test {
namespace {

using enum audit_verdict;

struct audit_case {
    std::string name;
    field_list stored, now;
    std::string body, now_body;
    audit_verdict expected;
    int status = 200;
};
class Audit : public ::testing::TestWithParam<audit_case> {};

TEST_P(Audit, Verdict) {
    const audit_case& c = GetParam();
    policy rules;
    rules.json_ignore = {"/at"};
    EXPECT_EQ(judge_audit(stored(c.stored), c.body, make_response(c.now, c.status), c.now_body, rules), c.expected);
}

const std::string changed = date(t0 - 1h);
const std::string later = date(t0 - 1min);
const std::string gzip_then = std::string("\x1f\x8b\x08\x00\x01\x02\x03\x04\x00\x03", 10) + "same";
const std::string gzip_now = std::string("\x1f\x8b\x08\x00\x09\x09\x09\x09\x00\x03", 10) + "same";
const field_list json_tagged{{"ETag", "W/\"a\""}, {"Content-Type", "application/json"}};

INSTANTIATE_TEST_SUITE_P(
    Examples, Audit,
    ::testing::Values(
        audit_case{"True", {{"ETag", "\"a\""}}, {{"ETag", "\"a\""}}, "x", "x", true_304},
        audit_case{"TrueWeakened", {{"ETag", "\"a\""}}, {{"ETag", "W/\"a\""}}, "x", "x", true_304},
        audit_case{"Wrong", {{"ETag", "\"a\""}}, {{"ETag", "\"a\""}}, "x", "y", wrong_304},
        audit_case{"WrongWeak", {{"ETag", "W/\"a\""}}, {{"ETag", "W/\"a\""}}, "x", "y", wrong_304},
        audit_case{"Churn", {{"ETag", "\"a\""}}, {{"ETag", "\"b\""}}, "x", "x", churn},
        audit_case{"ChangedMeanwhile", {{"ETag", "\"a\""}}, {{"ETag", "\"b\""}}, "x", "y", inconclusive},
        audit_case{"TagGone", {{"ETag", "\"a\""}}, {}, "x", "y", inconclusive},
        audit_case{"Failed", {{"ETag", "\"a\""}}, {{"ETag", "\"a\""}}, "x", "y", inconclusive, 503},
        audit_case{"OtherCoding",
                   {{"ETag", "\"a\""}},
                   {{"ETag", "\"a\""}, {"Content-Encoding", "gzip"}},
                   "x",
                   "y",
                   inconclusive},
        audit_case{"DateTrue", {{"Last-Modified", changed}}, {{"Last-Modified", changed}}, "x", "x", true_304},
        audit_case{"DateWrong", {{"Last-Modified", changed}}, {{"Last-Modified", changed}}, "x", "y", wrong_304},
        audit_case{"DateChurn", {{"Last-Modified", changed}}, {{"Last-Modified", later}}, "x", "x", churn},
        audit_case{"GzipTimeStamp",
                   {{"ETag", "\"a\""}, {"Content-Encoding", "gzip"}},
                   {{"ETag", "\"a\""}, {"Content-Encoding", "gzip"}},
                   gzip_then,
                   gzip_now,
                   true_304},
        audit_case{"GzipOtherBytes",
                   {{"ETag", "\"a\""}, {"Content-Encoding", "gzip"}},
                   {{"ETag", "\"a\""}, {"Content-Encoding", "gzip"}},
                   gzip_then,
                   gzip_now + "!",
                   wrong_304},
        audit_case{"IgnoredMember", json_tagged, json_tagged, R"({"at":1,"b":2})", R"({"b":2,"at":3})", true_304},
        audit_case{"OtherMember", json_tagged, json_tagged, R"({"at":1,"b":2})", R"({"b":3,"at":3})", wrong_304},
        audit_case{"StrongMeansBytes",
                   {{"ETag", "\"a\""}, {"Content-Type", "application/json"}},
                   {{"ETag", "\"a\""}, {"Content-Type", "application/json"}},
                   R"({"at":1})",
                   R"({"at":2})",
                   wrong_304}),
    case_name<audit_case>);

TEST(MayAudit, NothingOfOneUser) {
    const stored_response plain = stored({{"ETag", "\"a\""}});
    EXPECT_TRUE(may_audit(make_request(), plain));
    EXPECT_FALSE(may_audit(make_request({{"Authorization", "Bearer x"}}), plain));
    EXPECT_FALSE(may_audit(make_request({{"Cookie", "a=b"}}), plain));
    EXPECT_FALSE(may_audit(make_request(), stored({{"ETag", "\"a\""}, {"Cache-Control", "private"}})));
}

}  // namespace
}  // namespace etagere::cache::test
