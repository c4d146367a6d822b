#include "server/app/state_lock.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TEST(StateLock, ANewFolderIsItsOwnersAlone)
{
    const TemporaryFolder folder;
    const fs::path state = folder.path() / "deep" / "state";

    const Result<StateLock> lock = StateLock::take(state);

    ASSERT_TRUE(lock) << lock.error().detail;
    EXPECT_EQ(fs::status(state).permissions(), fs::perms::owner_all);
    const fs::perms of_file = fs::perms::owner_read | fs::perms::owner_write;
    EXPECT_EQ(fs::status(state / "fathomd.lock").permissions(), of_file);
}

TEST(StateLock, AFolderThatWasThereKeepsItsMode)
{
    const TemporaryFolder folder;
    const fs::perms open = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec;
    fs::permissions(folder.path(), open);

    ASSERT_TRUE(StateLock::take(folder.path()));

    EXPECT_EQ(fs::status(folder.path()).permissions(), open);
}

TEST(StateLock, ASecondProcessIsToldWhoHoldsIt)
{
    const TemporaryFolder folder;
    const Result<StateLock> lock = StateLock::take(folder.path());
    ASSERT_TRUE(lock);

    const Result<StateLock> second = StateLock::take(folder.path());

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::kConflict);
    EXPECT_NE(second.error().detail.find("process " + std::to_string(::getpid())), std::string::npos)
        << second.error().detail;
}

} // namespace
} // namespace fathom::server
