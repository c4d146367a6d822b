#include "agent/app/input_cache_place.hpp"
#include "agent/app/job_executor.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <pwd.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

TEST(JobExecutor, IsNotThatOfSlurmWhereIsolationIsRequired)
{
    const test::TemporaryFolder folder;
    const passwd* const plain = ::getpwnam("nobody");
    if (::getuid() == 0 && plain == nullptr) GTEST_SKIP() << "needs a user that jobs could run as";
    AgentConfig config;
    config.state_dir = folder.path();
    config.probe_program = folder.path() / "fathom-probe";
    config.uses_slurm = true;
    config.require_isolation = true;
    if (::getuid() == 0) config.run_as = plain->pw_name;

    const Result<std::unique_ptr<Executor>> made = make_job_executor(config, std::nullopt, {});

    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().detail,
                testing::HasSubstr("require_isolation is on, but at this center: Slurm's jobs share"));
}

TEST(JobExecutor, IsNotMadeWithoutTheKeyOfItsObjectStore)
{
    const test::TemporaryFolder folder;
    AgentConfig config;
    config.state_dir = folder.path();
    config.probe_program = folder.path() / "fathom-probe";
    config.tables.s3 = {
        .endpoint = "https://s3.example", .region = "r", .key_file = folder.path() / "key", .access = {}};

    const Result<std::unique_ptr<Executor>> made = make_job_executor(config, std::nullopt, {});

    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().detail, testing::HasSubstr("s3.key_file"));
}

/// Of a Slurm center whose users have these local users.
AgentConfig mapping_config(const std::filesystem::path& folder, const std::vector<std::string>& local_users)
{
    AgentConfig config;
    config.state_dir = folder;
    config.probe_program = folder / "fathom-probe";
    config.uses_slurm = true;
    config.require_isolation = true;
    for (const std::string& name : local_users)
        config.tables.slurm_users.push_back(
            {.users = {"user of " + name}, .project = {}, .local_user = name, .account = {}, .qos = {}});
    return config;
}

/// Accounts that may be local users of the network's users, but for one.
std::vector<std::string> ordinary_accounts(const std::string& but)
{
    std::vector<std::string> names;
    ::setpwent();
    while (const passwd* entry = ::getpwent()) {
        if (entry->pw_uid >= 1000 && entry->pw_gid != 0 && entry->pw_name != but) names.emplace_back(entry->pw_name);
    }
    ::endpwent();
    return names;
}

std::string refusal_of(const AgentConfig& config)
{
    const Result<std::unique_ptr<Executor>> made = make_job_executor(config, std::nullopt, {});
    return made ? std::string() : made.error().detail;
}

TEST(JobExecutor, OfAPlainUserHasNoLocalUsersForOthers)
{
    const test::TemporaryFolder folder;
    AgentConfig config = mapping_config(folder.path(), {"nobody"});
    if (::getuid() == 0) config.run_as = "root"; // root has them, and probes a user of their own

    EXPECT_THAT(refusal_of(config), testing::HasSubstr(::getuid() == 0 ? "set run_as to an ordinary user"
                                                                       : "needs an agent that is started"));
}

TEST(JobExecutor, OfSlurmSeparatesJobsWhereEachUserHasALocalUser)
{
    const test::TemporaryFolder folder;
    const std::vector<std::string> accounts = ordinary_accounts("nobody");
    if (::getuid() != 0 || accounts.empty() || ::getpwnam("nobody") == nullptr)
        GTEST_SKIP() << "only root runs jobs as other users";
    AgentConfig config = mapping_config(folder.path(), {accounts[0]});
    config.run_as = "nobody";
    EXPECT_EQ(refusal_of(config), "");

    config.slurm.refuses_unmapped = false;
    EXPECT_THAT(refusal_of(config), testing::HasSubstr("jobs of users without a [[slurm_user]] share the user nobody"));

    config = mapping_config(folder.path(), {accounts[0], accounts[0]});
    config.run_as = "nobody";
    config.tables.slurm_users[1].users = {"somebody else"};
    EXPECT_THAT(refusal_of(config), testing::HasSubstr("jobs of several users run as " + accounts[0]));

    config = mapping_config(folder.path(), {"nobody"});
    config.run_as = "nobody";
    EXPECT_THAT(refusal_of(config), testing::HasSubstr("as the probes do"));
}

TEST(InputCachePlaces, AreBelowTheFolderOfSlurmsJobsAndNeitherLargeNorListed)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path jobs = folder.path() / "yet" / "to be made";
    AgentConfig config;

    const InputCachePlace place = slurm_input_cache(config, jobs);

    EXPECT_EQ(place.folder, jobs / "input-cache");
    EXPECT_TRUE(place.jobs_open_files);
    EXPECT_GT(place.limit_bytes, 0);
    EXPECT_LE(place.limit_bytes, kMaxSlurmCacheBytes);
    config.input_cache_bytes = 2 * kMaxSlurmCacheBytes;
    EXPECT_EQ(slurm_input_cache(config, jobs).limit_bytes, 2 * kMaxSlurmCacheBytes) << "as it was set";
    EXPECT_EQ(local_input_cache(config, folder.path()).limit_bytes, 2 * kMaxSlurmCacheBytes);
    EXPECT_FALSE(local_input_cache(config, folder.path()).jobs_open_files);
}

TEST(JobExecutor, OfThisHostHasNoTablesOfSlurmsUsers)
{
    const test::TemporaryFolder folder;
    AgentConfig config = mapping_config(folder.path(), {"nobody"});
    config.uses_slurm = false;

    EXPECT_THAT(refusal_of(config), testing::HasSubstr("[[slurm_user]] is for centers with executor = \"slurm\""));
}

} // namespace
} // namespace fathom::agent
