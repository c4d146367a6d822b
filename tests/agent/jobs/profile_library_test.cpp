#include "agent/jobs/profile_library.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

Json manifest(const std::string& id)
{
    const Json parameter{{"name", "n"}, {"min", 1}, {"max", 1000}, {"default", 10}};
    const Json implementation{{"resource_type", "cpu"}, {"library", "own"}};
    return {{"id", id},
            {"category", "hpc"},
            {"description", "left out"},
            {"parameters", Json::array({parameter})},
            {"operation_count", "2*n"},
            {"byte_count", "8*n"},
            {"truth", "left out"},
            {"tolerance", 1e-9},
            {"precision", "fp64"},
            {"implementations", Json::array({implementation})}};
}

Json newer(const std::string& id)
{
    Json json = manifest(id);
    json["from_the_future"] = true;
    return json;
}

class ProfileLibraryTest : public testing::Test {
  protected:
    test::TemporaryFolder folder_;
    std::filesystem::path file_ = folder_.path() / "library.json";
    ProfileLibrary library_{file_};
};

TEST_F(ProfileLibraryTest, KeepsWhatItTookOverARestart)
{
    library_.load();
    EXPECT_EQ(library_.digest(), "");
    EXPECT_EQ(library_.text(), "");
    const Json operators = Json::array({manifest("one"), manifest("two")});

    ASSERT_TRUE(library_.take({.digest = "abc", .operators = operators}));

    EXPECT_EQ(library_.digest(), "abc");
    EXPECT_EQ(Json::parse(library_.text()), operators);
    ProfileLibrary again(file_);
    again.load();
    EXPECT_EQ(again.digest(), "abc");
    EXPECT_EQ(again.text(), library_.text());
}

TEST_F(ProfileLibraryTest, LeavesOutManifestsOfANewerServerThatItCannotRead)
{
    ASSERT_TRUE(library_.take({.digest = "abc", .operators = Json::array({newer("one"), manifest("two")})}));

    EXPECT_EQ(library_.digest(), "abc") << "it need not be sent again";
    EXPECT_EQ(Json::parse(library_.text()), Json::array({manifest("two")}));

    ASSERT_TRUE(library_.take({.digest = "def", .operators = Json::array({newer("one"), newer("two")})}));
    EXPECT_EQ(library_.text(), "") << "the profiler's own say more than none";
    ASSERT_TRUE(library_.take({.digest = "ghi", .operators = Json::array()}));
    EXPECT_EQ(library_.text(), "[]") << "all operators are withdrawn";
}

TEST_F(ProfileLibraryTest, AFileThatCannotBeReadCountsAsNone)
{
    for (const std::string text : {"", "{", "[]", R"({"v": 1, "id": "msg_1", "type": "match_library", "body": {}})"}) {
        write_file(file_, text).value();
        library_.load();
        EXPECT_EQ(library_.digest(), "") << text;
        EXPECT_EQ(library_.text(), "") << text;
    }
}

TEST_F(ProfileLibraryTest, StaysAsItWasWhenAnotherOneCannotBeStored)
{
    ProfileLibrary nowhere(folder_.path() / "missing" / "library.json");

    const Result<void> taken = nowhere.take({.digest = "abc", .operators = Json::array({manifest("one")})});

    ASSERT_FALSE(taken);
    EXPECT_EQ(nowhere.digest(), "");
    EXPECT_EQ(nowhere.text(), "");
}

} // namespace
} // namespace fathom::agent
