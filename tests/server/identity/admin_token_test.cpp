#include "core/base/file.hpp"
#include "core/base/secret.hpp"
#include "server/identity/admin_token.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <sys/stat.h>

namespace fathom::server {
namespace {

using test::run_sql;
using test::TemporaryFolder;

class AdminTokenTest : public testing::Test {
  protected:
    Result<void> ensure(const TemporaryFolder& state)
    {
        const std::filesystem::path path = state.path() / kAdminTokenFile;
        return ensure_admin_token(database_,
                                  {.path = path,
                                   .read = [path] { return read_file(path); },
                                   .write = [path](const std::string& text) { return write_file(path, text, 0600); }});
    }
    std::string usable_admins() const
    {
        return run_sql(url_, "SELECT count(*) FROM api_token WHERE role = 'admin' AND revoked_at IS NULL");
    }
    std::string stored_hash() const
    {
        return run_sql(url_, "SELECT secret_sha256 FROM api_token WHERE revoked_at IS NULL");
    }

    const std::string url_ = test::migrated_database();
    Metrics metrics_;
    Database database_{{.url = url_, .connections = 2}, metrics_};
    TemporaryFolder state_;
};

std::string secret_in(const TemporaryFolder& state)
{
    std::string secret = read_file(state.path() / "admin.token").value();
    if (secret.ends_with('\n')) secret.pop_back();
    return secret;
}

TEST_F(AdminTokenTest, IsMadeAtTheFirstStartForTheOwnerOnly)
{
    ASSERT_TRUE(ensure(state_));

    EXPECT_EQ(stored_hash(), sha256_hex(secret_in(state_)));
    struct stat facts{};
    ASSERT_EQ(stat((state_.path() / "admin.token").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    EXPECT_EQ(run_sql(url_, "SELECT action FROM audit_log"), "token.bootstrap");
}

TEST_F(AdminTokenTest, StaysAtTheSecondStart)
{
    ASSERT_TRUE(ensure(state_));
    const std::string secret = secret_in(state_);

    ASSERT_TRUE(ensure(state_));

    EXPECT_EQ(secret_in(state_), secret);
    EXPECT_EQ(usable_admins(), "1");
}

TEST_F(AdminTokenTest, OnlyTheFirstOfSeveralReplicasMakesOne)
{
    TemporaryFolder states[4];
    std::vector<std::future<Result<void>>> replicas;
    for (const TemporaryFolder& state : states)
        replicas.push_back(std::async(std::launch::async, [&] { return ensure(state); }));
    for (auto& replica : replicas)
        EXPECT_TRUE(replica.get());

    EXPECT_EQ(usable_admins(), "1");
    int files = 0;
    for (const TemporaryFolder& state : states)
        files += std::filesystem::exists(state.path() / "admin.token") ? 1 : 0;
    EXPECT_EQ(files, 1);
}

TEST_F(AdminTokenTest, AcceptsTheFileOfAStartThatCrashedBeforeItsCommit)
{
    const std::string secret = new_secret("fth_");
    ASSERT_TRUE(write_file(state_.path() / "admin.token", secret, 0600));

    ASSERT_TRUE(ensure(state_));

    EXPECT_EQ(stored_hash(), sha256_hex(secret));
}

TEST_F(AdminTokenTest, DoesNotAcceptAnUnknownFileWhenThereIsAnAdmin)
{
    ASSERT_TRUE(ensure(state_));
    const std::string intruder = new_secret("fth_");
    ASSERT_TRUE(write_file(state_.path() / "admin.token", intruder, 0600));

    EXPECT_TRUE(ensure(state_)) << "the server still starts; the log says what to do";

    EXPECT_EQ(usable_admins(), "1");
    EXPECT_NE(stored_hash(), sha256_hex(intruder));
}

TEST_F(AdminTokenTest, IsMadeAnewWhenAllWereRevoked)
{
    ASSERT_TRUE(ensure(state_));
    std::filesystem::remove(state_.path() / "admin.token");
    run_sql(url_, "UPDATE api_token SET revoked_at = now()");

    ASSERT_TRUE(ensure(state_));

    EXPECT_EQ(stored_hash(), sha256_hex(secret_in(state_)));
}

TEST_F(AdminTokenTest, RefusesAFileThatHoldsSomethingElse)
{
    ASSERT_TRUE(write_file(state_.path() / "admin.token", "my notes", 0600));

    EXPECT_EQ(ensure(state_).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::server
