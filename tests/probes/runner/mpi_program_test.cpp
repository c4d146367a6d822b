#include "core/model/probe_result.hpp"
#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sched.h>
#include <vector>

namespace fathom {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// fathom-probe with processes that the MPI of this machine starts.
class MpiPrograms : public ProbeProgram {
  protected:
    void SetUp() override
    {
        cpu_set_t cores;
        if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < 2)
            GTEST_SKIP() << "two processes need two processors";
        if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
    }

    /// A launcher that stands in for MPI's.
    std::string launcher(const std::string& script) const
    {
        const std::string path = write("launcher", "#!/bin/sh\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms(0700));
        return "FATHOM_MPI_LAUNCHER=" + path + " --option";
    }
};

/// All four operators, two processes each, at sizes from nothing to many messages under way.
constexpr const char* kMpiTask =
    R"({"name": "mpi", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002, "operators": [
    {"id": "mpi_latency"}, {"id": "mpi_latency", "parameters": {"bytes": 100001}},
    {"id": "mpi_bandwidth", "parameters": {"bytes": 1}}, {"id": "mpi_bandwidth"},
    {"id": "mpi_allreduce", "parameters": {"n": 1}}, {"id": "mpi_allreduce", "parameters": {"n": 10007}},
    {"id": "mpi_alltoall", "parameters": {"bytes": 1}}, {"id": "mpi_alltoall"},
    {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}]})";

Result<ProbeResult> mpi_result_of(const Outcome& outcome)
{
    const Result<Json> json = parse_json(outcome.out);
    if (!json) return json.error();
    return parse_probe_result(*json);
}

TEST_F(MpiPrograms, AreMeasuredAndVerified)
{
    const Outcome outcome = run_task(kMpiTask, {"FATHOM_CORES=2"});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = mpi_result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 9U);
    for (std::size_t i = 0; i < 8; ++i) {
        const OperatorResult& item = result->operators[i];
        EXPECT_EQ(item.error, 0) << item.id;
        EXPECT_GT(item.median_s, 0) << item.id;
        EXPECT_EQ(item.checksum.size(), 16U) << item.id;
        EXPECT_EQ(item.figures.at("processes"), 2) << item.id;
        EXPECT_EQ(item.figures.at("hosts"), 1) << item.id;
        EXPECT_THAT(item.library, EndsWith(", 2 processes on 1 host"));
    }
}

TEST_F(MpiPrograms, NoticeOneWrongBit)
{
    const std::string spoiled = "FATHOM_MPI_LAUNCHER=mpirun --host localhost:2 -x LD_PRELOAD=" FATHOM_WRONG_MPI;

    const Outcome outcome = run_task(kMpiTask, {"FATHOM_CORES=2", spoiled});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = mpi_result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 9U);
    for (std::size_t i = 0; i < 8; ++i)
        EXPECT_GT(result->operators[i].error, 100 * result->operators[i].tolerance) << result->operators[i].id;
    EXPECT_THAT(outcome.err, HasSubstr("the result of mpi_latency(bytes=8) is wrong"));
}

/// Physics allows no other order where sizes are so far apart.
TEST_F(MpiPrograms, TakeLongerForAThousandTimesAsMuch)
{
    constexpr const char* kSizes =
        R"({"name": "sizes", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.005, "operators": [
        {"id": "mpi_latency", "parameters": {"bytes": 8}}, {"id": "mpi_latency", "parameters": {"bytes": 1048576}},
        {"id": "mpi_bandwidth", "parameters": {"bytes": 8}}, {"id": "mpi_bandwidth", "parameters": {"bytes": 8388608}},
        {"id": "mpi_allreduce", "parameters": {"n": 1}}, {"id": "mpi_allreduce", "parameters": {"n": 1000000}},
        {"id": "mpi_alltoall", "parameters": {"bytes": 8}}, {"id": "mpi_alltoall", "parameters": {"bytes": 1048576}}]})";
    // The shortest of all runs: on a busy machine the processes of a short message wait for a processor longer than it
    // takes.
    std::vector<double> shortest_s(8, std::numeric_limits<double>::infinity());
    const auto is_ordered = [&](std::size_t i) { return shortest_s[i] < shortest_s[i + 1]; };
    for (int run = 0; run < 5; ++run) {
        const Result<ProbeResult> result = mpi_result_of(run_task(kSizes, {"FATHOM_CORES=2"}));
        ASSERT_TRUE(result) << describe(result.error());
        ASSERT_EQ(result->operators.size(), shortest_s.size());
        for (std::size_t i = 0; i < shortest_s.size(); ++i) {
            const std::vector<double>& samples_s = result->operators[i].samples_s;
            shortest_s[i] = std::min(shortest_s[i], *std::min_element(samples_s.begin(), samples_s.end()));
        }
        if (is_ordered(0) && is_ordered(2) && is_ordered(4) && is_ordered(6)) break;
    }
    for (std::size_t i = 0; i < shortest_s.size(); i += 2)
        EXPECT_LT(shortest_s[i], shortest_s[i + 1]) << i;
}

TEST_F(MpiPrograms, GiveTheSameChecksumsForTheSameSeedOnly)
{
    const auto checksums = [&](int seed) {
        std::vector<std::string> found;
        const Result<ProbeResult> result = mpi_result_of(run_task(
            R"({"name": "t", "limit_s": 600, "repeats": 1, "target_interval": 0, "min_sample_s": 0.001, "seed": )" +
                std::to_string(seed) + R"(, "operators": [{"id": "mpi_latency"}, {"id": "mpi_bandwidth"},
                {"id": "mpi_allreduce", "parameters": {"n": 1000}}, {"id": "mpi_alltoall"}]})",
            {"FATHOM_CORES=2"}));
        EXPECT_TRUE(result);
        for (std::size_t i = 0; result && i < result->operators.size(); ++i)
            found.push_back(result->operators[i].checksum);
        return found;
    };
    const std::vector<std::string> one = checksums(5);

    EXPECT_EQ(one, checksums(5));
    const std::vector<std::string> other = checksums(6);
    ASSERT_EQ(one.size(), 4U);
    ASSERT_EQ(other.size(), 4U);
    for (std::size_t i = 0; i < one.size(); ++i)
        EXPECT_NE(one[i], other[i]);
}

constexpr const char* kLatencyTask =
    R"({"name": "t", "limit_s": 600, "repeats": 1, "operators": [{"id": "mpi_latency"}]})";

TEST_F(MpiPrograms, AreNotBelievedWhenTheyAnswerNonsense)
{
    const Outcome outcome = run_task(
        kLatencyTask, {"FATHOM_CORES=2", launcher("echo fathom-exchange ready 2 1 0 Stand-in\n"
                                                  "while read line; do echo fathom-exchange done never; done\n")});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("mpi_latency(bytes=8)"), HasSubstr("answered \"fathom-exchange done never\"")));
}

TEST_F(MpiPrograms, AreStartedByTheLauncherThatTheCenterNames)
{
    const Outcome outcome =
        run_task(kLatencyTask, {"FATHOM_CORES=2", launcher("echo \"started with $*\" >&2; exit 3\n")});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("started with --option -n 2 "), HasSubstr("fathom-mpi-probe latency 8 ")));
}

TEST_F(MpiPrograms, ThatShareProcessorsAreNotMeasured)
{
    const Outcome outcome =
        run_task(kLatencyTask, {"FATHOM_CORES=2", launcher("echo fathom-exchange ready 2 1 1 Stand-in\nread line\n")});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("more of them than processors"));
}

/// A launcher that starts and says nothing is ended with the task, at the task's limit.
TEST_F(MpiPrograms, ThatHangEndAtTheTasksLimit)
{
    const Outcome outcome =
        run_task(R"({"name": "t", "limit_s": 1, "repeats": 1, "operators": [{"id": "mpi_latency"}]})",
                 {"FATHOM_CORES=2", launcher("echo $$ >\"" + folder_ + "/launched\"; exec sleep 1000\n")});

    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("took longer than its limit of 1 s"));
    const std::string process = "/proc/" + std::to_string(std::atoi(read("launched").c_str()));
    for (int i = 0; i < 6000 && std::filesystem::exists(process); ++i)
        usleep(10'000);
    EXPECT_FALSE(std::filesystem::exists(process));
}

} // namespace
} // namespace fathom
