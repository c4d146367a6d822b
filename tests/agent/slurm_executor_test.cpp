#include "agent/executor/slurm/slurm_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

#include <poll.h>

namespace fathom::agent {
namespace {

/// An executor whose Slurm is a script in the place of squeue.
class SlurmExecutorTest : public testing::Test {
  protected:
    /// What squeue answers from here on.
    void show(const std::string& jobs)
    {
        const std::filesystem::path squeue = folder_.path() / "squeue";
        write_file(squeue.string() + ".answer", jobs).value();
        write_file(squeue, "#!/bin/sh\ncat " + squeue.string() + ".answer\n", 0700).value();
    }
    SlurmExecutorOptions options() const
    {
        return {.folder = folder_.path() / "attempts",
                .slurm = {.programs = folder_.path(),
                          .settings = {},
                          .work_folder = {},
                          .partitions = {},
                          .account = {},
                          .qos = {}},
                .user_name = "ann",
                .programs = "/opt",
                .asks_slurm = false};
    }
    static AttemptEnd wait_end(SlurmExecutor& executor, const AttemptId& id)
    {
        constexpr int kLimit_ms = 60'000;
        RunView view = executor.look(id);
        while (view.phase != RunPhase::kEnded) {
            pollfd change{executor.change_descriptor(), POLLIN, 0};
            if (::poll(&change, 1, kLimit_ms) != 1) throw std::runtime_error("nothing has changed");
            executor.changes();
            view = executor.look(id);
        }
        return *view.end;
    }

    test::TemporaryFolder folder_;
};

TEST_F(SlurmExecutorTest, TellsHowMuchMemoryAJobHadThatRanOutOfItAlsoAfterARestart)
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.order.inputs = {{"file:///shared/x", "x", "", std::nullopt}};
    run.memory_bytes = 16LL << 30U;
    run.place = BatchPlace{.partition = "main",
                           .constraint = {},
                           .cpus_per_unit = 1,
                           .units_per_node = 1,
                           .memory_bytes_per_unit = 16LL << 30U};
    const AttemptId& id = run.order.attempt_id;
    show("7|" + id.value + "|OUT_OF_MEMORY|9|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n");
    const std::string told = "out of memory: Slurm killed it on n1; its units have 17179869184 bytes";
    {
        SlurmExecutor executor(options());
        ASSERT_TRUE(executor.start(run));

        const AttemptEnd end = wait_end(executor, id);

        EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
        EXPECT_EQ(end.detail, told);
    }
    SlurmExecutor again(options());
    again.watch(id);
    again.prepare();

    EXPECT_EQ(wait_end(again, id).detail, told);
}

TEST_F(SlurmExecutorTest, SaysThatItsJobsAreNoStrangersToEachOther)
{
    SlurmExecutorOptions with_own_user = options();
    with_own_user.user = JobUser{"ann", 12345, 12345};

    const Json isolation = SlurmExecutor(options()).facts()["isolation"];

    EXPECT_EQ(isolation["uid_per_job"], false);
    EXPECT_EQ(isolation["hides_agent_files"], false) << "they run as the agent does";
    EXPECT_EQ(SlurmExecutor(with_own_user).facts()["isolation"]["hides_agent_files"], true);
}

} // namespace
} // namespace fathom::agent
