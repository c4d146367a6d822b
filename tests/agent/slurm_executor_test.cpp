#include "agent/executor/slurm/slurm_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>

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
    /// As squeue shows a job of this user.
    static std::string out_of_memory(const std::string& job, const AttemptId& id, unsigned uid)
    {
        return job + "|" + id.value + "|OUT_OF_MEMORY|9|" + std::to_string(uid) +
               "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n";
    }
    static RunOrder run_of(const AttemptOrder& order)
    {
        RunOrder run;
        run.order = order;
        run.place = BatchPlace{
            .partition = "main", .constraint = {}, .cpus_per_unit = 1, .units_per_node = 1, .memory_bytes_per_unit = 0};
        return run;
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
    show(out_of_memory("7", id, ::getuid()));
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

TEST_F(SlurmExecutorTest, AJobOfAnotherUserWithAnAttemptsNameIsNotTheAttempts)
{
    const RunOrder run = run_of(test::shell_order("true"));
    const AttemptId& id = run.order.attempt_id;
    const std::string theirs =
        "6|" + id.value + "|COMPLETED|0|4242|2026-11-24T10:00:00|2026-11-24T10:00:01|0:01|n1|None|\n";
    show(theirs + out_of_memory("7", id, ::getuid()));
    SlurmExecutor executor(options());
    ASSERT_TRUE(executor.start(run));

    EXPECT_EQ(wait_end(executor, id).outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(read_file(options().folder / id.value / "job_id").value(), "7");
}

TEST_F(SlurmExecutorTest, AfterARestartAJobIsStillThatOfTheUserThatItsFolderNotes)
{
    const RunOrder run = run_of(test::shell_order("true"));
    const AttemptId& id = run.order.attempt_id;
    const std::filesystem::path folder = options().folder / id.value;
    std::filesystem::create_directories(folder);
    write_file(folder / "job.sh", "").value();
    write_file(folder / "job_id", "7").value();
    write_file(folder / "user", "4242 4242 ann").value();
    show(out_of_memory("7", id, 4242));
    SlurmExecutor executor(options());
    executor.watch(id);
    executor.prepare();

    EXPECT_EQ(wait_end(executor, id).outcome, AttemptOutcome::kOutOfMemory);
}

SlurmExecutorOptions with_map(SlurmExecutorOptions options)
{
    options.user = JobUser{"probes", 12345, 12345};
    options.mapped = {{.rule = {.users = {"ann"}, .project = {}, .local_user = "ann", .account = {}, .qos = {}},
                       .user = {"ann", 12346, 12346}}};
    return options;
}

TEST_F(SlurmExecutorTest, AJobOfAUserWithoutALocalOneEndsUnsubmitted)
{
    RunOrder run = run_of(test::shell_order("true"));
    run.order.owner = {"tok_x", "bob", "p"};
    SlurmExecutor executor(with_map(options()));

    ASSERT_TRUE(executor.start(run));

    const RunView view = executor.look(run.order.attempt_id);
    ASSERT_EQ(view.phase, RunPhase::kEnded);
    EXPECT_EQ(view.end->outcome, AttemptOutcome::kFailedToStart);
    EXPECT_TRUE(view.end->detail.starts_with("no local user: ")) << view.end->detail;
    EXPECT_TRUE(executor.known().empty());
}

TEST_F(SlurmExecutorTest, TellsWhetherEachUserHasALocalOne)
{
    SlurmExecutorOptions open = with_map(options());
    open.slurm.refuses_unmapped = false;

    EXPECT_FALSE(SlurmExecutor(options()).facts().contains("maps_users"));
    const Json facts = SlurmExecutor(with_map(options())).facts();
    EXPECT_EQ(facts["maps_users"], true);
    EXPECT_EQ(facts["isolation"]["uid_per_user"], true);
    EXPECT_EQ(SlurmExecutor(open).facts()["isolation"]["uid_per_user"], false);
}

} // namespace
} // namespace fathom::agent
