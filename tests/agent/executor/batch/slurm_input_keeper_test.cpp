#include "agent/executor/batch/input_keeper.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// A job that has ended, and the cache of its center.
class InputKeepers : public testing::Test {
  protected:
    InputKeepers() { std::filesystem::create_directories(work() / "in"); }

    std::filesystem::path work() const { return folder_.path() / "work"; }
    std::filesystem::path cache(const std::string& name = "") const { return folder_.path() / "cache" / name; }
    void stage(const std::string& content) const { write_file(work() / "in" / "x", content).value(); }
    /// What its job has left is looked at, and kept or not.
    void keep(unsigned user = ::geteuid(), std::int64_t limit_bytes = 1000) const
    {
        write_file(folder_.path() / "inputs", encode(std::vector<KeepableInput>{{"in/x", kContentSha256}})).value();
        InputKeeper keeper({.folder = cache(), .limit_bytes = limit_bytes, .jobs_open_files = true});
        const AttemptId id = test::shell_order("true").attempt_id;
        keeper.keep({id, folder_.path() / "inputs", work(), user});
        for (int i = 0; i < 6000 && keeper.is_at(id); ++i)
            ::usleep(10'000);
        ASSERT_FALSE(keeper.is_at(id));
    }
    bool has_kept() const { return std::filesystem::exists(cache(kContentSha256)); }
    static unsigned mode_of(const std::filesystem::path& path)
    {
        struct stat facts{};
        return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0U;
    }

    static constexpr const char* kContentSha256 = // of "content"
        "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    static constexpr const char* kOtherSha256 = // of "other"
        "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";
    test::TemporaryFolder folder_;
};

TEST_F(InputKeepers, KeepFilesThatJobsCanReadAndNotList)
{
    stage("content");

    keep();

    EXPECT_EQ(read_file(cache(kContentSha256)).value(), "content");
    EXPECT_EQ(mode_of(cache(kContentSha256)), 0444U);
    EXPECT_EQ(mode_of(cache()), 0711U) << "who does not know a name finds none";
    EXPECT_EQ(mode_of(cache("own")), 0700U) << "what is not complete nobody reads";
    EXPECT_FALSE(std::filesystem::exists(cache("own/part")));
}

TEST_F(InputKeepers, KeepNothingUnderAFalseName)
{
    stage("forged!");
    keep();
    EXPECT_FALSE(has_kept());

    std::filesystem::remove(work() / "in" / "x");
    std::filesystem::create_symlink(folder_.path() / "content", work() / "in" / "x");
    write_file(folder_.path() / "content", "content").value();
    keep();
    EXPECT_FALSE(has_kept()) << "a link may lead to what only the agent may read";
}

TEST_F(InputKeepers, KeepNothingThatIsNotTheJobs)
{
    stage("content"); // is ours, as a second name of a file that only the agent may read would be

    keep(::geteuid() + 1);

    EXPECT_FALSE(has_kept());
}

TEST_F(InputKeepers, NoteWhoBroughtAFile)
{
    if (::getuid() != 0) GTEST_SKIP() << "only root keeps files of others";
    stage("content");
    ASSERT_EQ(::chown((work() / "in" / "x").c_str(), 4242, 4242), 0);

    keep(4242);

    struct stat facts{};
    ASSERT_EQ(::stat(cache(kContentSha256).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, 0U) << "its content is not theirs to change";
    ASSERT_EQ(::stat(cache(std::string("own/") + kContentSha256).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, 4242U);
}

TEST_F(InputKeepers, ReplaceWhatAJobFoundSpoiled)
{
    stage("content");
    keep();
    ASSERT_EQ(::chmod(cache(kContentSha256).c_str(), 0600), 0);
    write_file(cache(kContentSha256), "cont").value(); // cut short
    write_file(work() / ".fathom-inputs.json", R"({"seconds": 1, "bytes": 7, "cached_bytes": 0, "spoiled": [")" +
                                                   std::string(kContentSha256) + R"("]})")
        .value();

    keep();

    EXPECT_EQ(read_file(cache(kContentSha256)).value(), "content");
}

TEST_F(InputKeepers, KeepNothingWithoutRoom)
{
    stage("content");

    keep(::geteuid(), 0);

    EXPECT_FALSE(std::filesystem::exists(cache()));
}

TEST_F(InputKeepers, KeepOutputsThatWereStored)
{
    write_file(work() / "result", "content").value();
    InputKeeper keeper({.folder = cache(), .limit_bytes = 1000, .jobs_open_files = true});
    const AttemptId id = test::shell_order("true").attempt_id;

    write_file(work() / "other", "other").value();
    const std::filesystem::path note = folder_.path() / "inputs";
    write_file(note, encode({{"in/x", std::string(64, 'a')}, {"result", ""}})).value();
    stage("changed by the job");

    keeper.keep({id, note, work(), ::geteuid(), {{"other", 5, kOtherSha256}, {"result", 7, kContentSha256}}});

    for (int i = 0; i < 6000 && keeper.is_at(id); ++i)
        ::usleep(10'000);
    EXPECT_EQ(read_file(cache(kContentSha256)).value(), "content");
    EXPECT_FALSE(std::filesystem::exists(cache(kOtherSha256))) << "it is none of the outputs that were ordered";
}

TEST(KeepableOutputs, AreThoseThatWereOrderedEachOnce)
{
    const std::string sha256(64, 'a');

    const std::vector<KeepableInput> keepable =
        keepable_outputs({{"a", 1, sha256}, {"b", 1, sha256}, {"a", 1, std::string(64, 'b')}}, {"a", "c"});

    ASSERT_EQ(keepable.size(), 1U);
    EXPECT_EQ(keepable[0].path, "a");
    EXPECT_EQ(keepable[0].sha256, sha256);
}

TEST(KeepableInputs, AreThoseThatNameTheirContentAndComeOverTheNetwork)
{
    const std::string sha256(64, 'a');
    const std::vector<KeepableInput> keepable = keepable_inputs({{"https://h/a", "a", "", std::nullopt},
                                                                 {"file:///b", "b", sha256, std::nullopt},
                                                                 {"https://h/c?key=geheim", "in/c", sha256, 3}});

    ASSERT_EQ(keepable.size(), 1U);
    const std::string text = encode(keepable);
    EXPECT_EQ(text.find("geheim"), std::string::npos);
    const std::vector<KeepableInput> again = decode_keepable_inputs(text).value();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].path, "in/c");
    EXPECT_EQ(again[0].sha256, sha256);
    EXPECT_FALSE(decode_keepable_inputs("[{}]"));
    EXPECT_FALSE(decode_keepable_inputs("{"));

    const JobInput stored{"file:///b", "b", sha256, std::nullopt, "job:job_1/b", {}};
    EXPECT_TRUE(is_found_by_content(stored)) << "an output of a job";
    EXPECT_TRUE(keepable_inputs({stored}).empty()) << "but a file of the center is not kept twice";
    EXPECT_FALSE(is_found_by_content({"file:///b", "b", sha256, std::nullopt}));
}

} // namespace
} // namespace fathom::agent
