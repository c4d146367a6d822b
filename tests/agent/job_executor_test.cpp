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

} // namespace
} // namespace fathom::agent
