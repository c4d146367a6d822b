#include "agent/executor/local/disk_use.hpp"
#include "core/base/open_file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::int64_t kLimit = 1'000'000'000'000;

/// Goes on until all was counted once.
void count(DiskUse& use)
{
    const auto first = use.next();
    use.go_on(first, ::getpid());
    while (use.next() == first)
        use.go_on(first, ::getpid());
}

std::int64_t bytes_in(const std::vector<fs::path>& folders)
{
    DiskUse use(folders);
    count(use);
    return use.bytes();
}

std::int64_t files_in(const std::vector<fs::path>& folders)
{
    DiskUse use(folders);
    count(use);
    return use.files();
}

void write(const fs::path& path, std::size_t bytes)
{
    std::ofstream(path) << std::string(bytes, 'x');
}

TEST(DiskUse, CountsAllOfItsFolders)
{
    const test::TemporaryFolder folder;
    fs::create_directories(folder.path() / "a/b");
    fs::create_directory(folder.path() / "c");
    write(folder.path() / "a/b/one", 300'000);
    write(folder.path() / "c/two", 400'000);
    fs::create_hard_link(folder.path() / "c/two", folder.path() / "c/again");

    const std::int64_t bytes = bytes_in({folder.path() / "a", folder.path() / "c"});

    EXPECT_GE(bytes, 700'000);
    EXPECT_LT(bytes, 900'000);
}

TEST(DiskUse, CountsFilesFoldersAndLinksHoweverEmpty)
{
    const test::TemporaryFolder folder;
    fs::create_directories(folder.path() / "a/b");
    fs::create_directory(folder.path() / "c");
    for (int i = 0; i < 5000; ++i) // more than are looked at in one go
        write(folder.path() / "a/b" / std::to_string(i), 0);
    fs::create_symlink("b", folder.path() / "a/link");
    fs::create_hard_link(folder.path() / "a/b/7", folder.path() / "c/again");

    EXPECT_EQ(files_in({folder.path() / "a", folder.path() / "c"}), 3 + 5000 + 1);
}

TEST(DiskUse, NothingIsHiddenBehindFoldersThatAreNestedTooDeeply)
{
    const test::TemporaryFolder folder;
    fs::create_directory(folder.path() / "deep");
    fs::create_directory(folder.path() / "other");
    write(folder.path() / "other/file", 100'000);
    const std::string name(255, 'd');
    OpenFile here(::open((folder.path() / "deep").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int level = 0; level < 300; ++level) { // more than 64 KiB of path
        ASSERT_EQ(::mkdirat(here.number(), name.c_str(), 0700), 0) << level;
        here = OpenFile(::openat(here.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_GE(here.number(), 0) << level;
    }

    EXPECT_GT(bytes_in({folder.path() / "deep", folder.path() / "other"}), kLimit);
    EXPECT_GT(files_in({folder.path() / "deep", folder.path() / "other"}), kLimit);
}

} // namespace
} // namespace fathom::agent
