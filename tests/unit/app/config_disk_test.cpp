// Files on disk: the examples of config/, and what can be wrong with reading one.
#include "etagere/routing/table.hpp"

#include "config_support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

namespace etagere::app {
namespace {

using testing::HasSubstr;

/// config/ of the source tree. A compiler cache may have made __FILE__ relative; then the build directory is inside the
/// tree.
std::filesystem::path find_examples() {
    const auto beside = std::filesystem::path(__FILE__).parent_path() / "../../../config";
    if (beside.is_absolute()) {
        return beside;
    }
    for (auto at = std::filesystem::current_path(); at != at.root_path(); at = at.parent_path()) {
        if (std::filesystem::exists(at / "config/full.yaml")) {
            return at / "config";
        }
    }
    return beside;
}
const std::filesystem::path examples = find_examples();

TEST(Examples, HaveNoProblemsAndCompile) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(examples)) {
        const std::string path = entry.path().string();
        names.insert(entry.path().filename().string());
        const auto r = load_config(path, [](const std::string&) { return std::nullopt; });
        EXPECT_EQ(format_problems(r.problems, problem_format::text), "") << path;
        const auto tables = routing::compile(r.value);
        EXPECT_TRUE(tables.has_value()) << path << ": " << (tables ? "" : tables.error());
    }
    EXPECT_THAT(names, testing::IsSupersetOf({"etagere.yaml", "full.yaml", "rails.yaml", "go.yaml", "egress.yaml"}));
}

// A key that exists is in the full example, at least in a comment.
TEST(Examples, TheFullOneShowsEveryKey) {
    std::ifstream in(examples / "full.yaml");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto keys = config_keys();
    EXPECT_GT(keys.size(), 80U);
    std::set<std::string> paths;
    for (const config_key& k : keys) {
        EXPECT_FALSE(k.type.empty()) << k.path;
        EXPECT_FALSE(k.help.empty()) << k.path;
        EXPECT_TRUE(paths.insert(k.path).second) << k.path;
        const std::string name = k.path.substr(k.path.rfind('.') + 1);
        EXPECT_THAT(text, HasSubstr(name + ": ")) << k.path;
    }
    for (const char* some : {"listen", "listeners.NAME.limits.idle_timeout", "stores.NAME.memcached.sign.key",
                             "upstreams.NAME.pool.queue", "defaults.cache.stale.if_error", "routes[].match.path",
                             "egress[].cache.collapse.wait", "observability.metrics.path"}) {
        EXPECT_TRUE(paths.contains(some)) << some;
    }
}

class directory {
public:
    directory() {
        std::string name = std::filesystem::temp_directory_path() / "etagere-config-XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    ~directory() { std::filesystem::remove_all(path_); }
    std::string write(const std::string& name, std::string_view text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }
    std::filesystem::path path() const { return path_; }

private:
    std::filesystem::path path_;
};

TEST(LoadConfig, ReadsSecretsBesideTheFile) {
    const directory d;
    d.write("key", "0123456789abcdef\n");
    const auto path = d.write(
        "e.yaml", with_upstream("stores: { default: { memcached: { servers: m, sign: { key: '${file:key}' } } } }"));
    ASSERT_EQ(::setenv("ETAGERE_TEST_VARIABLE", "set", 1), 0);
    EXPECT_EQ(process_environment()("ETAGERE_TEST_VARIABLE"), "set");
    EXPECT_EQ(process_environment()("ETAGERE_TEST_NO_VARIABLE"), std::nullopt);
    const auto r = load_config(path, process_environment());
    EXPECT_EQ(format_problems(r.problems, problem_format::text), "");
    EXPECT_EQ(r.value.stores.at(0).memcached->sign_key, "0123456789abcdef");
}

TEST(LoadConfig, SaysWhyAFileCannotBeRead) {
    const directory d;
    const auto text_of = [](const std::string& path) {
        return format_problems(load_config(path, process_environment()).problems, problem_format::text);
    };
    const std::string none = d.path() / "none.yaml";
    EXPECT_EQ(text_of(none),
              none + ": cannot be read: No such file or directory\n1 problem (1 error); nothing was changed\n");
    EXPECT_THAT(text_of(d.path()), HasSubstr("cannot be read: it is a directory"));
    EXPECT_THAT(text_of(d.write("large", std::string(max_config_bytes + 1, '#'))),
                HasSubstr("the file is larger than 384 KiB"));
    d.write("long", std::string(65 * 1024, 'x'));
    EXPECT_THAT(text_of(d.write("a.yaml", with_upstream("workers: '${file:long}'"))),
                HasSubstr("\"long\" cannot be read: it is larger than 64 KiB"));
    EXPECT_THAT(text_of(d.write("b.yaml", with_upstream("workers: '${file:none}'"))),
                HasSubstr("\"none\" cannot be read: No such file"));
    EXPECT_THAT(text_of(d.write("c.yaml", with_upstream("workers: '${file:/}'"))),
                HasSubstr("\"/\" cannot be read: it is a directory"));
}

}  // namespace
}  // namespace etagere::app
