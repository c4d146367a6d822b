#include "core/model/probe_result.hpp"
#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sched.h>

namespace fathom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kTask =
    R"({"name": "tcp", "limit_s": 120, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002, "operators": [
    {"id": "tcp_allreduce", "parameters": {"n": 1}}, {"id": "tcp_allreduce", "parameters": {"n": 10007}},
    {"id": "tcp_allreduce", "parameters": {"n": 1000000}}]})";

/// fathom-probe with processes that TCP connects.
class TcpPrograms : public ProbeProgram {
  protected:
    void SetUp() override
    {
        cpu_set_t cores;
        if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < 2)
            GTEST_SKIP() << "two processes need two processors";
        while (!CPU_ISSET(first_core_, &cores))
            ++first_core_;
    }

    /// Of a Slurm job of `tasks` tasks whose srun is `script`.
    std::vector<std::string> job_of(int tasks, const std::string& script) const
    {
        const std::string path = write("launcher", "#!/bin/sh\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms(0700));
        return {"FATHOM_CORES=2", "FATHOM_TCP_INTERFACE=lo", "SLURM_NTASKS=" + std::to_string(tasks),
                "FATHOM_TCP_LAUNCHER=" + path + " --option"};
    }

    std::size_t first_core_ = 0; ///< that this test may use
};

/// What srun does, on one host: its option, "-n", the number, and the command of a process.
constexpr const char* kStartAll = "shift; shift; n=$1; shift; i=0\n"
                                  "while [ $i -lt $n ]; do \"$@\" & i=$((i + 1)); done; wait\n";

Result<ProbeResult> result_of(const Outcome& outcome)
{
    const Result<Json> json = parse_json(outcome.out);
    if (!json) return json.error();
    return parse_probe_result(*json);
}

void expect_right(const Outcome& outcome)
{
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 3U);
    for (const OperatorResult& item : result->operators) {
        EXPECT_EQ(item.error, 0);
        EXPECT_GT(item.median_s, 0);
        EXPECT_EQ(item.figures.at("processes"), 2);
        EXPECT_EQ(item.figures.at("hosts"), 1);
        EXPECT_EQ(item.library, "own ring over TCP, 2 processes on 1 host");
    }
    const auto shortest_s = [](const OperatorResult& item) {
        return *std::min_element(item.samples_s.begin(), item.samples_s.end());
    };
    EXPECT_LT(shortest_s(result->operators[0]), shortest_s(result->operators[2])) << "a million elements take longer";
}

TEST_F(TcpPrograms, AreMeasuredAndVerifiedOnOneHost)
{
    expect_right(run_task(kTask, {"FATHOM_CORES=2"}));
}

TEST_F(TcpPrograms, AreStartedByTheLauncherOfAJobOfSeveralTasks)
{
    expect_right(run_task(kTask, job_of(2, kStartAll)));
}

TEST_F(TcpPrograms, GiveTheSameChecksumsAsWithoutALauncher)
{
    const Result<ProbeResult> one = result_of(run_task(kTask, {"FATHOM_CORES=2"}));
    const Result<ProbeResult> other = result_of(run_task(kTask, job_of(2, kStartAll)));

    ASSERT_TRUE(one && other);
    for (std::size_t i = 0; i < one->operators.size(); ++i)
        EXPECT_EQ(one->operators[i].checksum, other->operators[i].checksum);
}

TEST_F(TcpPrograms, AreToldOfALauncherThatFails)
{
    const Outcome outcome = run_task(kTask, job_of(3, "echo \"started with $*\" >&2; exit 3\n"));

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("started with --option -n 3 "), HasSubstr("--join 1 "),
                                   HasSubstr("0 of 3 processes have come")));
}

TEST_F(TcpPrograms, NeedALauncherThatPassesTheEnvironmentOn)
{
    const std::string without = "shift; shift; n=$1; shift; exec env -i \"$@\"\n";

    const Outcome outcome = run_task(kTask, job_of(2, without));

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("the launcher must pass the environment on"));
}

TEST_F(TcpPrograms, HaveNoPlaceForWhoDoesNotHaveTheSecret)
{
    const std::string guess = "shift; shift; n=$1; shift; FATHOM_TCP_SECRET=guess exec \"$@\"\n";

    const Outcome outcome = run_task(kTask, job_of(2, guess));

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("0 of 2 processes have come"));
}

TEST_F(TcpPrograms, ThatShareProcessorsAreNotMeasured)
{
    const std::string crowded = "shift; shift; n=$1; shift; i=0\n"
                                "while [ $i -lt $n ]; do taskset -c " +
                                std::to_string(first_core_) + " \"$@\" & i=$((i + 1)); done; wait\n";

    const Outcome outcome = run_task(kTask, job_of(2, crowded));

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("more of them than processors"));
}

} // namespace
} // namespace fathom
