// The script that is submitted to Slurm.

#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace fathom::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

RunOrder order_of(std::int64_t units)
{
    RunOrder run;
    run.order = test::shell_order("echo it\\'s");
    run.order.unit_count = units;
    run.order.wall_limit_s = 90;
    run.cores = 4 * units;
    run.place = BatchPlace{.partition = "main",
                           .constraint = "ib&big",
                           .cpus_per_unit = 8,
                           .units_per_node = 2,
                           .memory_bytes_per_unit = 16LL << 30U};
    return run;
}

std::string script_of(const RunOrder& run)
{
    return batch_script(run, {"/shared/att"}, {.account = "physics", .qos = "", .user = "ann", .programs = "/opt"})
        .value();
}

TEST(BatchScript, AsksForTheUnitsOnOneNodeWhereTheyFit)
{
    const RunOrder run = order_of(2);

    const std::string script = script_of(run);

    EXPECT_THAT(script, HasSubstr("#SBATCH --job-name=" + run.order.attempt_id.value + "\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=16\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --mem-per-cpu=2048M\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --constraint=\"ib&big\"\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --time=1:30\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --account=physics\n"));
    EXPECT_THAT(script, Not(HasSubstr("--qos")));
    EXPECT_THAT(script, HasSubstr("export FATHOM_CORES='8'\n"));
}

TEST(BatchScript, AsksForTheGpusOfItsUnits)
{
    RunOrder run = order_of(2);
    run.place->devices = "gpu:a100";
    run.place->devices_per_unit = 2;
    EXPECT_THAT(script_of(run), HasSubstr("#SBATCH --gres=gpu:a100:4\n"));

    RunOrder spanning = order_of(5);
    spanning.place->devices = "gpu:a100";
    spanning.place->devices_per_unit = 2;
    EXPECT_THAT(script_of(spanning), HasSubstr("#SBATCH --gpus-per-task=a100:2\n"));
    spanning.place->devices = "gpu";
    EXPECT_THAT(script_of(spanning), HasSubstr("#SBATCH --gpus-per-task=2\n"));

    run.place->devices = "gpu:a100 --uid=0";
    EXPECT_FALSE(batch_script(run, {"/shared/att"}, {}));
}

/// Runs the script as Slurm does, as its job 7. @return its exit code
int run_script(const BatchFolder& folder)
{
    const std::string line = "cd " + folder.work().string() + " && SLURM_JOB_ID=7 bash " + folder.script().string() +
                             " >>../stdout 2>>../stderr";
    return WEXITSTATUS(std::system(line.c_str())); // NOLINT(concurrency-mt-unsafe): no other thread runs
}

TEST(BatchScript, DoesNotStartItsProgramOnceMore)
{
    const test::TemporaryFolder folder;
    const BatchFolder attempt{folder.path()};
    std::filesystem::create_directory(attempt.work());
    std::filesystem::create_directory(attempt.report());
    RunOrder run = order_of(1);
    run.order.command = {"sh", "-c", "echo ran; exit 4"};
    write_file(attempt.script(),
               batch_script(run, attempt, {.account = "", .qos = "", .user = "ann", .programs = "/"}).value())
        .value();

    EXPECT_EQ(run_script(attempt), 4);
    EXPECT_EQ(run_script(attempt), 4) << "as it ended before";
    EXPECT_EQ(read_file(attempt.path / "stdout").value(), "ran\n");
    EXPECT_EQ(read_file(attempt.path / "stderr").value(), "");
    EXPECT_FALSE(std::filesystem::exists(attempt.report() / "started_again"));

    std::filesystem::remove(attempt.report() / "ended"); // as while its program runs
    EXPECT_EQ(run_script(attempt), 1);
    EXPECT_EQ(read_file(attempt.path / "stdout").value(), "ran\n");
    EXPECT_TRUE(std::filesystem::exists(attempt.report() / "started_again"));
}

TEST(BatchScript, KeepsItsOwnVariablesFromItsJob)
{
    RunOrder run = order_of(1);
    run.order.environment = {{"report", "mine"}, {"fathom_report", "/elsewhere"}};

    const std::string script = script_of(run);

    EXPECT_THAT(script, HasSubstr("export report='mine'\n"));
    EXPECT_THAT(script, Not(HasSubstr("/elsewhere")));
    EXPECT_THAT(script, Not(HasSubstr("$report")));
}

TEST(BatchScript, StagesInputsBeforeTheProgram)
{
    RunOrder run = order_of(1);
    EXPECT_THAT(script_of(run), Not(HasSubstr("fathom-stage")));

    run.order.inputs = {{"https://data.example/x", "x", "", std::nullopt}};
    const std::string script = script_of(run);

    const std::size_t staging = script.find("{ '/opt/fathom-stage' || {");
    const std::size_t program = script.find("; false; }; } &&\n'sh'");
    ASSERT_NE(staging, std::string::npos);
    ASSERT_NE(program, std::string::npos);
    EXPECT_LT(staging, program);
    EXPECT_THAT(script, Not(HasSubstr("data.example"))) << "the URL stands in the working folder only";
}

TEST(BatchScript, StoresOutputsAfterTheProgram)
{
    RunOrder run = order_of(1);
    run.order.outputs = {{"x", "https://data.example/x"}};

    const std::string script = script_of(run);

    const std::size_t program = script.find("\nfathom_exit_code=$?\n");
    const std::size_t storing =
        script.find("if [ \"$fathom_exit_code\" -eq 0 ]; then\n    '/opt/fathom-stage' --outputs ||");
    ASSERT_NE(program, std::string::npos);
    ASSERT_NE(storing, std::string::npos);
    EXPECT_LT(program, storing);
    EXPECT_LT(storing, script.find("/ended.part"));
    EXPECT_THAT(script, Not(HasSubstr("data.example"))) << "the URL stands in the working folder only";
}

TEST(BatchScript, NotesWhatItUsedBeforeItsEnd)
{
    const std::string script = script_of(order_of(1));

    const std::size_t usage = script.find(usage_lines());
    ASSERT_NE(usage, std::string::npos);
    EXPECT_LT(script.find("\nfathom_exit_code=$?\n"), usage);
    EXPECT_LT(usage, script.find("/ended.part")) << "who sees the end finds the usage";
}

TEST(BatchScript, HasJobsProfiledWithTheLibraryThatComesWithTheOrder)
{
    RunOrder run = order_of(1);
    EXPECT_THAT(script_of(run), Not(HasSubstr("fathom-profile")));

    run.order.profile = true;
    EXPECT_THAT(script_of(run), HasSubstr("\nfathom-profile --output json --output-file .fathom-profile.json -- 'sh'"));

    run.library = "[]";
    EXPECT_THAT(script_of(run), HasSubstr("\nfathom-profile --output json --output-file .fathom-profile.json "
                                          "--library .fathom-library.json -- 'sh'"));
}

TEST(BatchScript, OneUnitIsAskedForAsAJobOfOneUnitWouldBe)
{
    const RunOrder run = order_of(1);
    const std::string script = script_of(run);

    for (const auto& [name, value] : demands_of(*run.place, 1, 1)) {
        if (name == "constraint")
            EXPECT_EQ(value, "ib&big") << "no shell reads it";
        else
            EXPECT_THAT(script, HasSubstr("#SBATCH --" + name + "=" + value + "\n"));
    }
}

TEST(BatchScript, StartsAProgramOnSeveralNodesBySrun)
{
    RunOrder run = order_of(5);
    run.order.script.clear();
    run.order.command = {"solver", "it's"};

    const std::string script = script_of(run);

    EXPECT_THAT(script, HasSubstr("#SBATCH --ntasks=5\n#SBATCH --cpus-per-task=8\n"));
    EXPECT_THAT(script, HasSubstr("srun --kill-on-bad-exit=1 'solver' 'it'\\''s'"));
    EXPECT_THAT(script, HasSubstr("export FATHOM_CORES='4'\n"));
}

TEST(BatchScript, RefusesAProbeOnSeveralNodes)
{
    RunOrder run = order_of(5);
    run.order.label = "probe";

    const Result<std::string> script = batch_script(run, {"/shared/att"}, {});

    ASSERT_FALSE(script);
    EXPECT_EQ(script.error().code, Errc::kInfeasible);
}

/// It starts the processes of all tasks itself; what else is measured would be one node's alone.
TEST(BatchScript, LetsOperatorsBetweenProcessesAloneBeMeasuredOnSeveralNodes)
{
    RunOrder run = order_of(5);
    run.order.label = "probe";
    run.order.script.clear();
    run.order.command = {"fathom-probe", "--task", "probe-task.json"};
    run.order.operators = {{"mpi_latency"}, {"mpi_alltoall"}, {"tcp_allreduce"}};

    const std::string script = script_of(run);

    EXPECT_THAT(script, HasSubstr("#SBATCH --ntasks=5\n"));
    EXPECT_THAT(script, HasSubstr("\n'fathom-probe' '--task' 'probe-task.json' \n"));
    EXPECT_THAT(script, Not(HasSubstr("srun --")));
    run.order.operators.push_back({"dgemm"});
    EXPECT_FALSE(batch_script(run, {"/shared/att"}, {}));
}

TEST(BatchScript, TakesNoOptionsThatAnOrderCouldSmuggleIn)
{
    RunOrder run = order_of(1);
    run.place->partition = "main\n#SBATCH --uid=0";
    EXPECT_FALSE(batch_script(run, {"/shared/att"}, {}));
    run.place->partition = "main";
    run.place->constraint = "a\" --uid=0";
    EXPECT_FALSE(batch_script(run, {"/shared/att"}, {}));
}

} // namespace
} // namespace fathom::agent
