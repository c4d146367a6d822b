#include "agent/executor/local/file_lock.hpp"
#include "agent/executor/local/input_cache.hpp"
#include "core/base/file.hpp"
#include "core/base/sha256.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

std::string sha256_of_text(const std::string& text)
{
    Sha256 digest;
    digest.add(text);
    return digest.hex();
}

class InputCaches : public testing::Test {
  protected:
    std::filesystem::path path(const std::string& sha256 = "") const { return folder_.path() / "cache" / sha256; }
    InputCache cache() const { return InputCache::open({folder_.path() / "cache", 10}).value(); }
    /// Offers a job's file.
    Result<void> keep(const std::string& content, const std::string& sha256) const
    {
        write_file(folder_.path() / "staged", content).value();
        const OpenFile file(::open((folder_.path() / "staged").c_str(), O_RDONLY | O_CLOEXEC));
        return cache().keep(file.number(), sha256);
    }
    Result<void> keep(const std::string& content) const { return keep(content, sha256_of_text(content)); }
    bool has(const std::string& content) const { return cache().find(sha256_of_text(content)).number() >= 0; }
    /// As if it had been used last so many seconds after 1970.
    void set_last_use(const std::string& content, time_t at_s) const
    {
        const std::array<timespec, 2> times{{{at_s, 0}, {at_s, 0}}};
        ASSERT_EQ(::utimensat(AT_FDCWD, path(sha256_of_text(content)).c_str(), times.data(), 0), 0);
    }

    test::TemporaryFolder folder_;
};

TEST_F(InputCaches, KeepCopiesThatOnlyTheAgentMayOpen)
{
    ASSERT_TRUE(keep("content"));

    const OpenFile file = cache().find(sha256_of_text("content"));
    std::array<char, 8> read{};
    EXPECT_EQ(::read(file.number(), read.data(), read.size()), 7);
    EXPECT_STREQ(read.data(), "content");
    EXPECT_LT(::write(file.number(), "x", 1), 0) << "it is open for reading";
    struct stat facts{};
    ASSERT_EQ(::fstat(file.number(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0400U);
    EXPECT_EQ(facts.st_uid, ::geteuid());
    EXPECT_EQ(facts.st_nlink, 1U) << "a job has no other name for it";
    ASSERT_EQ(::stat(path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U);
}

TEST_F(InputCaches, AreReadPieceByPieceAndNowhereElse)
{
    ASSERT_TRUE(keep("content"));
    const InputCachePlace place{folder_.path() / "cache", 10};
    const std::string sha256 = sha256_of_text("content");

    EXPECT_EQ(read_kept_file(place, sha256, 0, 4).value(), "cont");
    EXPECT_EQ(read_kept_file(place, sha256, 4, 4).value(), "ent") << "it ends there";
    EXPECT_EQ(read_kept_file(place, sha256, 99, 4).value(), "");
    EXPECT_EQ(read_kept_file(place, sha256_of_text("other"), 0, 4).error().code, Errc::kNotFound);
    EXPECT_EQ(read_kept_file(place, "own/lock", 0, 4).error().code, Errc::kNotFound);
    EXPECT_EQ(read_kept_file({folder_.path() / "cache", 0}, sha256, 0, 4).error().code, Errc::kNotFound)
        << "nothing is kept there";
    const std::string link = sha256_of_text("link");
    std::filesystem::create_symlink("/etc/passwd", path(link));
    EXPECT_EQ(read_kept_file(place, link, 0, 4).error().code, Errc::kNotFound) << "no link is followed";
}

TEST_F(InputCaches, AreNotGivenUpWhileTheyAreRead)
{
    ASSERT_TRUE(keep("aaaa"));
    ASSERT_TRUE(keep("bbbb"));
    set_last_use("aaaa", 1000);
    set_last_use("bbbb", 2000);

    EXPECT_EQ(cache().read(sha256_of_text("aaaa"), 0, 2).value(), "aa");
    ASSERT_TRUE(keep("cccc"));

    EXPECT_EQ(cache().read(sha256_of_text("aaaa"), 2, 2).value(), "aa") << "it was used last";
    EXPECT_EQ(cache().read(sha256_of_text("bbbb"), 0, 2).error().code, Errc::kNotFound) << "it made room";
}

TEST_F(InputCaches, KeepNothingUnderAFalseName)
{
    EXPECT_EQ(keep("forged", sha256_of_text("content")).error().code, Errc::kInvalid);
    EXPECT_EQ(keep("content", "../staged").error().code, Errc::kInvalid);

    EXPECT_FALSE(has("content"));
    EXPECT_LT(cache().find("../staged").number(), 0);
    EXPECT_FALSE(std::filesystem::exists(path("own/part")));
    const OpenFile no_file(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(cache().keep(no_file.number(), sha256_of_text("")).error().code, Errc::kInvalid);
}

TEST_F(InputCaches, GiveUpWhatWasNotUsedForLongest)
{
    for (const char* const content : {"aaaa", "bbbb"})
        ASSERT_TRUE(keep(content));
    set_last_use("aaaa", 1000);
    set_last_use("bbbb", 2000);
    EXPECT_TRUE(has("aaaa")) << "which is a use";

    ASSERT_TRUE(keep("cccc"));

    EXPECT_TRUE(has("aaaa"));
    EXPECT_FALSE(has("bbbb"));
    EXPECT_TRUE(has("cccc"));
    EXPECT_EQ(keep("more than ten bytes").error().code, Errc::kTooLarge);
    EXPECT_TRUE(has("aaaa")) << "nothing is given up for what is not kept";
}

TEST_F(InputCaches, KeepNoFasterThanTheyMayAndNothingThatIsToStop)
{
    write_file(folder_.path() / "staged", "content").value();
    const OpenFile file(::open((folder_.path() / "staged").c_str(), O_RDONLY | O_CLOEXEC));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(cache().keep(file.number(), sha256_of_text("content"), {.stop = stop.get_token()}).error().code,
              Errc::kUnavailable);
    EXPECT_FALSE(has("content"));

    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(cache().keep(file.number(), sha256_of_text("content"), {.most_bytes_per_s = 20, .is_flushed = true}));

    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
    EXPECT_TRUE(has("content"));
}

TEST_F(InputCaches, WaitForOthersNoLongerThanTheyMay)
{
    ASSERT_TRUE(keep("content"));
    write_file(folder_.path() / "staged", "other").value();
    const OpenFile file(::open((folder_.path() / "staged").c_str(), O_RDONLY | O_CLOEXEC));
    const KeepManner manner{.most_wait = std::chrono::milliseconds(50)};
    {
        const OpenFile held(::open(path("own/lock").c_str(), O_RDWR | O_CLOEXEC));
        ASSERT_TRUE(take_lock(held.number()));

        EXPECT_EQ(cache().keep(file.number(), sha256_of_text("other"), manner).error().code, Errc::kUnavailable);
        EXPECT_FALSE(has("other"));
    }

    EXPECT_TRUE(cache().keep(file.number(), sha256_of_text("other"), manner));
}

TEST_F(InputCaches, KeepNothingThatIsMostlyHoles)
{
    constexpr std::size_t kBytes = 4UL << 20U;
    const InputCache large = InputCache::open({folder_.path() / "cache", 2 * kBytes}).value();
    const std::string zeros(kBytes, '\0');
    const std::filesystem::path holes = folder_.path() / "holes";
    const OpenFile file(::open(holes.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::ftruncate(file.number(), kBytes), 0);

    EXPECT_EQ(large.keep(file.number(), sha256_of_text(zeros)).error().code, Errc::kTooLarge);
    EXPECT_FALSE(has(zeros));

    std::string full(kBytes, '\0'); // that no file system makes small
    std::mt19937 random(1);
    for (char& c : full)
        c = static_cast<char>(random());
    write_file(holes, full).value();
    const OpenFile whole(::open(holes.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(large.keep(whole.number(), sha256_of_text(full)));
}

TEST_F(InputCaches, TakeTheSameFileFromSeveralJobsAtOnce)
{
    write_file(folder_.path() / "same", "content").value();
    std::vector<std::thread> jobs;
    for (int i = 0; i < 8; ++i)
        jobs.emplace_back([&] {
            const OpenFile file(::open((folder_.path() / "same").c_str(), O_RDONLY | O_CLOEXEC));
            EXPECT_TRUE(cache().keep(file.number(), sha256_of_text("content")));
        });
    for (std::thread& job : jobs)
        job.join();

    EXPECT_EQ(read_file(path(sha256_of_text("content"))).value(), "content");
}

TEST_F(InputCaches, GiveUpWhatIsSpoiled)
{
    ASSERT_TRUE(keep("content"));
    EXPECT_FALSE(cache().check(sha256_of_text("content"))) << "it is whole";
    EXPECT_TRUE(has("content"));

    ASSERT_EQ(::chmod(path(sha256_of_text("content")).c_str(), 0600), 0);
    write_file(path(sha256_of_text("content")), "CONTENT").value();
    EXPECT_TRUE(cache().check(sha256_of_text("content")));

    EXPECT_FALSE(has("content"));
    EXPECT_TRUE(cache().check(sha256_of_text("content"))) << "another job had it given up";
}

} // namespace
} // namespace fathom::agent
