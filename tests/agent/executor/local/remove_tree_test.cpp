#include "agent/executor/local/remove_tree.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr unsigned kPlainUser = 65534;

void touch(const fs::path& path)
{
    std::ofstream(path) << "x";
}

void set_mode(const fs::path& path, mode_t mode)
{
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
}

mode_t mode_of(const fs::path& path)
{
    struct stat facts{};
    EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 07777U;
}

/// Runs its tests as a user who is held to the rights of files, also where the tests run as root.
class RemoveTree : public testing::Test {
  protected:
    RemoveTree()
    {
        if (::geteuid() == 0) EXPECT_EQ(::chown(folder_.path().c_str(), kPlainUser, kPlainUser), 0);
    }

    /// In a process of that user's own.
    static void as_plain_user(const std::function<void()>& body)
    {
        const pid_t child = ::fork();
        if (child == 0) {
            const bool is_plain = ::geteuid() != 0 || (::setgroups(0, nullptr) == 0 && ::setgid(kPlainUser) == 0 &&
                                                       ::setuid(kPlainUser) == 0);
            if (!is_plain) std::_Exit(2);
            body();
            std::_Exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "what failed stands above";
    }

    fs::path path(const std::string& name) const { return folder_.path() / name; }

  private:
    test::TemporaryFolder folder_;
};

TEST_F(RemoveTree, DeletesWhatItsOwnerHasTakenAllRightsFrom)
{
    as_plain_user([&] {
        fs::create_directories(path("tree/none/inner"));
        fs::create_directories(path("tree/read_only"));
        fs::create_directories(path("tree/no_entry"));
        for (const char* file : {"tree/none/inner/file", "tree/read_only/file", "tree/no_entry/file", "tree/file"})
            touch(path(file));
        set_mode(path("tree/none/inner"), 0000);
        set_mode(path("tree/none"), 0000);
        set_mode(path("tree/read_only"), 0500);
        set_mode(path("tree/no_entry"), 0600);
        set_mode(path("tree"), 0000);

        const Result<void> removed = remove_tree(path("tree"));

        EXPECT_TRUE(removed) << removed.error().detail;
        EXPECT_FALSE(fs::exists(path("tree")));
    });
}

TEST_F(RemoveTree, FollowsNoLink)
{
    as_plain_user([&] {
        fs::create_directories(path("outside"));
        touch(path("outside/file"));
        set_mode(path("outside"), 0500);
        fs::create_directories(path("tree"));
        fs::create_directory_symlink(path("outside"), path("tree/link"));
        fs::create_directory_symlink(path("outside"), path("link"));

        EXPECT_TRUE(remove_tree(path("tree")));
        EXPECT_FALSE(remove_tree(path("link"))) << "no folder";

        EXPECT_FALSE(fs::exists(path("tree")));
        EXPECT_TRUE(fs::exists(path("outside/file")));
        EXPECT_EQ(mode_of(path("outside")), 0500U);
        set_mode(path("outside"), 0700);
    });
}

TEST_F(RemoveTree, DeletesFoldersOfAnyDepth)
{
    as_plain_user([&] {
        constexpr int kDepth = 3000; // more than descriptors or the longest path allow
        fs::create_directory(path("tree"));
        int folder = ::open(path("tree").c_str(), O_RDONLY | O_DIRECTORY);
        for (int i = 0; i < kDepth; ++i) {
            ASSERT_EQ(::mkdirat(folder, "deeper", 0700), 0);
            const int next = ::openat(folder, "deeper", O_RDONLY | O_DIRECTORY);
            if (i % 7 == 0) ::fchmod(folder, 0000);
            ::close(folder);
            folder = next;
        }
        ::close(folder);

        const Result<void> removed = remove_tree(path("tree"));

        EXPECT_TRUE(removed) << removed.error().detail;
        EXPECT_FALSE(fs::exists(path("tree")));
    });
}

TEST_F(RemoveTree, TellsWhatItCannotDeleteAndWhyAndDeletesTheRest)
{
    as_plain_user([&] {
        fs::create_directories(path("closed/tree/inner"));
        touch(path("closed/tree/inner/file"));
        set_mode(path("closed"), 0500);

        const Result<void> removed = remove_tree(path("closed/tree"));

        EXPECT_FALSE(removed);
        EXPECT_THAT(removed.error().detail, HasSubstr("closed/tree: Permission denied"));
        EXPECT_TRUE(fs::is_empty(path("closed/tree")));
        set_mode(path("closed"), 0700);
        EXPECT_TRUE(remove_tree(path("closed/tree")));
    });
}

TEST_F(RemoveTree, HasNothingToDoWhereNothingIs)
{
    EXPECT_TRUE(remove_tree(path("tree")));
    EXPECT_TRUE(remove_tree(path("no/tree")));
}

TEST_F(RemoveTree, EntersNoOtherFileSystem)
{
    const pid_t trial = ::fork();
    if (trial == 0) std::_Exit(::unshare(CLONE_NEWUSER | CLONE_NEWNS));
    int status = -1;
    ::waitpid(trial, &status, 0);
    if (status != 0) GTEST_SKIP() << "needs user namespaces, to mount a file system";

    as_plain_user([&] {
        ::prctl(PR_SET_DUMPABLE, 1); // else our own /proc files are root's after the change of user
        const std::string uid = std::to_string(::geteuid());
        const std::string gid = std::to_string(::getegid());
        ASSERT_EQ(::unshare(CLONE_NEWUSER | CLONE_NEWNS), 0);
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << uid << " " << uid << " 1";
        std::ofstream("/proc/self/gid_map") << gid << " " << gid << " 1";
        fs::create_directories(path("tree/mounted"));
        touch(path("tree/file"));
        ASSERT_EQ(::mount("test", path("tree/mounted").c_str(), "tmpfs", 0, nullptr), 0);
        touch(path("tree/mounted/theirs"));

        const Result<void> removed = remove_tree(path("tree"));

        EXPECT_THAT(removed.error().detail, HasSubstr("tree/mounted: Device or resource busy"));
        EXPECT_TRUE(fs::exists(path("tree/mounted/theirs")));
        EXPECT_FALSE(fs::exists(path("tree/file")));
    });
}

} // namespace
} // namespace fathom::agent
