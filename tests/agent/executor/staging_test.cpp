#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::shell_order;
using testing::StartsWith;

TEST_F(LocalExecutorTest, StagesInputsBeforeTheCommandStarts)
{
    std::filesystem::create_directory(folder_.path() / "shared");
    write_file(folder_.path() / "shared" / "a", "content").value();
    options_.staging.folders = {folder_.path() / "shared"};
    AttemptOrder job = shell_order("cat in/a");
    job.inputs = {{"file://" + (folder_.path() / "shared" / "a").string(), "in/a", "", 7}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_bytes, 7);
    EXPECT_GT(end.staging->in_s, 0);
    EXPECT_EQ(end.staging->out_s, 0);
    EXPECT_LT(end.staging->both_s(), end.run_s);
}

TEST_F(LocalExecutorTest, TakesNoLongerStagingFromAJobThanTheJobTook)
{
    std::filesystem::create_directory(folder_.path() / "shared");
    write_file(folder_.path() / "shared" / "a", "content").value();
    options_.staging.folders = {folder_.path() / "shared"};
    AttemptOrder job = shell_order("echo '{\"seconds\": 1e8, \"bytes\": 5}' > .fathom-inputs.json");
    job.inputs = {{"file://" + (folder_.path() / "shared" / "a").string(), "a", "", std::nullopt}};

    const AttemptEnd end = run(job);

    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_s, end.run_s);
}

TEST_F(LocalExecutorTest, AJobWithoutInputsAndOutputsHasNoStaging)
{
    const AttemptEnd end = run(shell_order("echo '{\"seconds\": 0.001, \"bytes\": 5}' > .fathom-inputs.json"));

    EXPECT_EQ(end.exit_code, 0);
    EXPECT_FALSE(end.staging);
}

TEST_F(LocalExecutorTest, TellsStagingThatFailedFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo ran; exit 1");
    job.inputs = {{"http://127.0.0.1:1/x?signature=geheim", "x", "", std::nullopt}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_THAT(end.detail, StartsWith("staging failed: http://127.0.0.1:1/x: "));
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_bytes, 0);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "");
}

TEST_F(LocalExecutorTest, StoresOutputsOnceTheCommandHasSucceeded)
{
    std::filesystem::create_directory(folder_.path() / "results");
    options_.staging.output_folders = {folder_.path() / "results"};
    const std::filesystem::path result = folder_.path() / "results" / "sum";
    AttemptOrder job = shell_order("mkdir out; printf 42 > out/sum");
    job.outputs = {{"out/sum", "file://" + result.string()}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(read_file(result).value(), "42");
    ASSERT_EQ(end.outputs.size(), 1U);
    EXPECT_EQ(end.outputs[0].path, "out/sum");
    EXPECT_EQ(end.outputs[0].size_bytes, 2);
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_s, 0);
    EXPECT_EQ(end.staging->out_bytes, 2);
    EXPECT_GT(end.staging->out_s, 0);

    job = shell_order("mkdir out; printf 43 > out/sum; exit 3");
    job.outputs = {{"out/sum", "file://" + result.string()}};
    EXPECT_EQ(run(job).exit_code, 3);
    EXPECT_EQ(read_file(result).value(), "42") << "a command that fails has no outputs";
}

TEST_F(LocalExecutorTest, TellsOutputsThatCouldNotBeStoredFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo done");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum?signature=geheim"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_THAT(end.detail,
                StartsWith("outputs could not be stored: sum to https://127.0.0.1:1/sum: it cannot be opened"));
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "done\n");
    EXPECT_TRUE(end.outputs.empty());
}

TEST_F(LocalExecutorTest, AJobWithOutputsEndsByTheSignalThatItsCommandEndedBy)
{
    AttemptOrder job = shell_order("kill -SEGV $$");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled) << end.detail;
    EXPECT_EQ(end.signal, SIGSEGV);
}

} // namespace
} // namespace fathom::agent
