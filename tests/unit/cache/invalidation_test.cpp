// RFC 9111 §4.4: what a write makes obsolete.
#include "unit/cache/support.hpp"

#include <gmock/gmock.h>

namespace etagere::cache::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> targets(std::string_view method, int status, const field_list& list = {}) {
    return invalidated_targets(make_request({}, method, "/a/b?x=1"), make_response(list, status));
}

// B79, S215
TEST(Invalidation, BySuccessOfAnUnsafeMethod) {
    for (const std::string_view method : {"POST", "PUT", "PATCH", "DELETE", "M-SEARCH"}) {
        EXPECT_THAT(targets(method, 200), ElementsAre("/a/b?x=1")) << method;
        EXPECT_THAT(targets(method, 303), ElementsAre("/a/b?x=1")) << method;
    }
}

TEST(Invalidation, NotByFailureNorBySafeMethods) {
    for (const int status : {101, 400, 404, 500, 503}) EXPECT_THAT(targets("POST", status), IsEmpty()) << status;
    for (const std::string_view method : {"GET", "HEAD", "OPTIONS", "TRACE"})
        EXPECT_THAT(targets(method, 200), IsEmpty());
}

TEST(Invalidation, NothingWhereTheTargetIsNoPath) {
    EXPECT_THAT(invalidated_targets(make_request({}, "FOO", "*"), make_response()), IsEmpty());
}

TEST(Invalidation, LocationAndContentLocationToo) {
    EXPECT_THAT(targets("POST", 201, {{"Location", "/new"}, {"Content-Location", "/a/other"}}),
                ElementsAre("/a/b?x=1", "/new", "/a/other"));
    EXPECT_THAT(targets("POST", 201, {{"Location", "/a/b?x=1"}, {"Content-Location", "/c"}}),
                ElementsAre("/a/b?x=1", "/c"));
    EXPECT_THAT(targets("POST", 500, {{"Location", "/new"}}), IsEmpty());
}

struct reference_case {
    std::string name;
    std::string location;
    std::string target;  // "" for another origin
};
class References : public ::testing::TestWithParam<reference_case> {};

// Base: http://api.test/a/b?x=1
TEST_P(References, AreResolvedWithinTheOrigin) {
    const auto found = targets("POST", 201, {{"Location", GetParam().location}});
    if (GetParam().target.empty()) {
        EXPECT_THAT(found, ElementsAre("/a/b?x=1"));
    } else {
        EXPECT_THAT(found, ElementsAre("/a/b?x=1", GetParam().target));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Examples, References,
    ::testing::Values(
        reference_case{"Absolute", "http://api.test/n", "/n"}, reference_case{"AnyCase", "HTTP://API.Test/n", "/n"},
        reference_case{"DefaultPort", "http://api.test:80/n", "/n"},
        reference_case{"EmptyPort", "http://api.test:/n", "/n"}, reference_case{"NoPath", "http://api.test", "/"},
        reference_case{"NoPathButQuery", "http://api.test?q", "/?q"},
        reference_case{"OtherHost", "http://b.test/n", ""}, reference_case{"OtherPort", "http://api.test:81/n", ""},
        reference_case{"OtherScheme", "https://api.test/n", ""},
        reference_case{"OtherSchemesPort", "https://api.test:80/n", ""},
        reference_case{"BadPort", "http://api.test:8x/n", ""},
        reference_case{"HugePort", "http://api.test:65617/n", ""},
        reference_case{"UserInformation", "http://api.test@b.test/n", ""},
        reference_case{"UserInformationHere", "http://u@api.test/n", ""},
        reference_case{"NetworkPath", "//api.test/n", "/n"}, reference_case{"OtherNetworkPath", "//b.test/n", ""},
        reference_case{"OtherKind", "mailto:a@b", ""}, reference_case{"SchemeWithoutAuthority", "http:n", ""},
        reference_case{"Path", "/n?q=1#frag", "/n?q=1"}, reference_case{"Relative", "n", "/a/n"},
        reference_case{"RelativeFolder", "n/m", "/a/n/m"}, reference_case{"Dot", "./n", "/a/n"},
        reference_case{"DotDot", "../n", "/n"}, reference_case{"TooManyDots", "../../../n", "/n"},
        reference_case{"OnlyDot", ".", "/a/"}, reference_case{"OnlyDotDot", "..", "/"},
        reference_case{"DotsWithin", "/x/./y/../z", "/x/z"}, reference_case{"DotsLikeNames", "/x/..y/.z", "/x/..y/.z"},
        reference_case{"DoubleSlashWithin", "/x//y", "/x//y"}, reference_case{"OnlyQuery", "?y=2", "/a/b?y=2"},
        reference_case{"Empty", "", ""}, reference_case{"OnlyFragment", "#f", ""},
        reference_case{"ColonInTheQuery", "n?t=10:00", "/a/n?t=10:00"},
        reference_case{"ColonInThePath", "/n:1", "/n:1"}),
    case_name<reference_case>);

TEST(Invalidation, AnAddressLiteralKeepsItsColons) {
    http::request_head request = make_request({}, "PUT", "/n");
    request.host = "[::1]";
    request.port = 8080;
    EXPECT_THAT(invalidated_targets(request, make_response({{"Location", "http://[::1]:8080/m"}})),
                ElementsAre("/n", "/m"));
    EXPECT_THAT(invalidated_targets(request, make_response({{"Location", "http://[::1]/m"}})), ElementsAre("/n"));
}

}  // namespace
}  // namespace etagere::cache::test
