#include "core/model/operator_manifest.hpp"
#include "core/model/probe_result.hpp"
#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace fathom {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSmallTask =
    R"({"name": "small", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002, "operators": [
    {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 2},
    {"id": "fft1d", "parameters": {"n": 1024}}, {"id": "fft3d", "parameters": {"n": 16}},
    {"id": "spmv", "parameters": {"rows": 5000}}, {"id": "stream_triad", "parameters": {"n": 20000}},
    {"id": "conv2d", "parameters": {"batch": 1, "channels_in": 16, "channels_out": 16, "height": 14, "width": 14}}]})";

Result<ProbeResult> result_of(const Outcome& outcome)
{
    const Result<Json> json = parse_json(outcome.out);
    if (!json) return json.error();
    return parse_probe_result(*json);
}

TEST_F(ProbeProgram, RunsCopiesSideBySideAndSaysWhatEachTook)
{
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two processors";
    const Outcome outcome = run({"--task", write("task.json", kSmallTask), "--copies", "2"});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->copies.size(), 1U);
    for (const ProbeResult* const copy : {&*result, &result->copies[0]}) {
        EXPECT_EQ(copy->unit_count, 1);
        EXPECT_EQ(copy->cores, CPU_COUNT(&allowed) / 2);
        ASSERT_EQ(copy->operators.size(), 6U);
        for (const OperatorResult& item : copy->operators) {
            EXPECT_EQ(item.samples_s.size(), 3U) << item.id;
            EXPECT_LE(item.error, item.tolerance) << item.id;
            EXPECT_EQ(item.alone.has_value(), copy == &*result) << "the first is measured alone before";
        }
    }
    EXPECT_EQ(result->operators[0].alone->samples_s.size(), 3U);
    EXPECT_TRUE(result->copies[0].host.empty());
    ASSERT_TRUE(result->reporter) << "they take turns with bubbles";
    EXPECT_EQ(result->reporter->alone.samples_s.size(), 3U);
    EXPECT_EQ(result->reporter->beside_bubbles.samples_s.size(), 3U);
    ASSERT_TRUE(result->operators[0].pressure);
    EXPECT_EQ(result->operators[0].pressure->beside_bubbles.samples_s.size(), 3U);
    EXPECT_EQ(result->operators[0].pressure->reporter.samples_s.size(), 3U);
    EXPECT_FALSE(result->copies[0].reporter || result->copies[0].operators[0].pressure);
}

TEST_F(ProbeProgram, ACopyThatFailsEndsTheOthersAndSaysWhy)
{
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two processors";
    const std::string no_operator = R"({"name": "t", "operators": [{"id": "no_such_operator"}]})";
    const Outcome outcome = run({"--task", write("task.json", no_operator), "--copies=2"});

    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("no_such_operator"));
}

TEST_F(ProbeProgram, CopiesNeedAFileAProcessorEachAndPrintJson)
{
    const std::string task = write("task.json", kSmallTask);

    EXPECT_THAT(run({"--task", "-", "--copies", "2"}, {}, kSmallTask).err, HasSubstr("a task in a file"));
    EXPECT_THAT(run({"--task", task, "--copies", "2", "--output", "table"}).err, HasSubstr("prints JSON only"));
    EXPECT_EQ(run({"--task", task, "--copies", "65"}).exit_code, 2);
    EXPECT_EQ(run({"--task", task}, {"FATHOM_COPY=0:2:0"}).exit_code, 2) << "no memory of copies";
}

TEST_F(ProbeProgram, PrintsOneLineWithTheResultOfATask)
{
    const Outcome outcome = run_task(kSmallTask);

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
    const Result<ProbeResult> result = result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->task, "small");
    ASSERT_EQ(result->operators.size(), 6U);
    for (const OperatorResult& item : result->operators) {
        EXPECT_LE(item.error, item.tolerance) << item.id;
        EXPECT_EQ(item.samples_s.size(), 3U) << item.id;
    }
    EXPECT_GT(result->start_up_s, 0);
    EXPECT_GT(result->wall_s, result->start_up_s);
    for (const char* const fact : {"hostname", "cpu_model", "isa", "cpus_allowed", "load_before", "steal_s",
                                   "openblas_core", "memory_bytes", "involuntary_context_switches"})
        EXPECT_TRUE(result->host.contains(fact)) << fact;
    EXPECT_THAT(result->host.at("compiler").get<std::string>(),
                testing::AnyOf(testing::StartsWith("clang "), testing::StartsWith("gcc ")));
}

TEST_F(ProbeProgram, PrintsATableForPeople)
{
    const Outcome outcome =
        run({"--output", "table", "--task", "-"}, {}, R"({"name": "t", "limit_s": 600, "target_interval": 1e-9,
        "sample_budget_s": 0.05, "operators": [
            {"id": "dgemm", "parameters": {"m": 8, "n": 8, "k": 8}}, {"id": "sort", "parameters": {"n": 100}}]})");

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("OPERATOR"));
    EXPECT_THAT(outcome.out, HasSubstr("DISTURBED"));
    EXPECT_THAT(outcome.out, HasSubstr("dgemm(k=8,m=8,n=8)"));
    EXPECT_THAT(outcome.out, HasSubstr(" % !")); // a billionth cannot be reached
    EXPECT_THAT(outcome.out, HasSubstr("not known as well as the task asks for"));
}

TEST_F(ProbeProgram, ReadsTheTaskFromStandardInput)
{
    const Outcome outcome =
        run({"--task", "-"}, {}, R"({"name": "in", "limit_s": 600, "repeats": 1, "operators": [{"id": "dgemm",
        "parameters": {"m": 8, "n": 8, "k": 8}}]})");

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(result_of(outcome)->task, "in");
}

TEST_F(ProbeProgram, GivesTheSameChecksumsEveryTime)
{
    const Result<ProbeResult> one = result_of(run_task(kSmallTask, {"FATHOM_CORES=1"}));
    const Result<ProbeResult> two = result_of(run_task(kSmallTask, {"OPENBLAS_CORETYPE=Nehalem"}));
    ASSERT_TRUE(one && two);

    for (std::size_t i = 0; i < one->operators.size(); ++i)
        EXPECT_EQ(one->operators[i].checksum, two->operators[i].checksum) << one->operators[i].id;
}

TEST_F(ProbeProgram, ObeysItsEnvironment)
{
    const Result<ProbeResult> result =
        result_of(run_task(kSmallTask, {"FATHOM_CORES=1", "FATHOM_UNITS=4", "OPENBLAS_CORETYPE=Nehalem"}));

    ASSERT_TRUE(result);
    EXPECT_EQ(result->cores, 1);
    EXPECT_EQ(result->unit_count, 4);
    EXPECT_EQ(result->host.at("openblas_core"), "Nehalem");
    EXPECT_THAT(result->operators[0].library, HasSubstr("Nehalem"));
    EXPECT_EQ(result->host.at("library_threads").at("openblas"), 1);
}

TEST_F(ProbeProgram, RefusesAWrongEnvironment)
{
    const Outcome outcome = run_task(kSmallTask, {"FATHOM_UNITS=many"});

    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("FATHOM_UNITS must be a whole number"));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(ProbeProgram, ListsEveryErrorOfATask)
{
    const Outcome outcome = run_task(R"({"name": "t", "operators": [{"id": "lu"},
        {"id": "dgemm", "parameters": {"m": 0, "size": 4}}, {"id": "fft3d", "parameters": {"n": 5000}}]})");

    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("operators[0].id"));
    EXPECT_THAT(outcome.err, HasSubstr("operators[1].parameters.m"));
    EXPECT_THAT(outcome.err, HasSubstr("operators[1].parameters.size"));
    EXPECT_THAT(outcome.err, HasSubstr("operators[2].parameters.n"));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(ProbeProgram, RefusesWhatIsNotATask)
{
    EXPECT_EQ(run_task("{\"name\": ").exit_code, 2);
    EXPECT_EQ(run_task("[]").exit_code, 2);
    EXPECT_EQ(run_task(R"({"name": "t", "operators": []})").exit_code, 2);
    EXPECT_EQ(run_task(R"({"name": "t", "operators": [{"id": "dgemm", "paramters": {}}]})").exit_code, 2);
    EXPECT_EQ(run({"--task", folder_ + "/none.json"}).exit_code, 2);
    EXPECT_EQ(run({"--task", "-"}, {}, std::string(2 << 20, ' ')).exit_code, 2);
}

TEST_F(ProbeProgram, RefusesWhatDoesNotFitIntoMemory)
{
    const Outcome outcome = run_task(R"({"name": "t", "operators": [
        {"id": "stream_triad", "parameters": {"n": 4000000000}}, {"id": "stream_triad", "parameters": {"n": 4000000000}},
        {"id": "fft1d", "parameters": {"n": 268435456}}]})");

    EXPECT_EQ(outcome.exit_code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("out of memory: the task needs 204884.9 MB"));
}

TEST_F(ProbeProgram, ListsItsOperators)
{
    const Outcome table = run({"--list"});
    const Outcome json = run({"--list", "--output", "json"});

    EXPECT_EQ(table.exit_code, 0);
    EXPECT_THAT(table.out, HasSubstr("channels_out"));
    const Result<Json> parsed = parse_json(json.out);
    ASSERT_TRUE(parsed);
    ASSERT_GE(parsed->at("operators").size(), 6U);
    for (const Json& manifest : parsed->at("operators"))
        EXPECT_TRUE(parse_operator_manifest(manifest));
    EXPECT_EQ(parsed->at("openblas_core"), result_of(run_task(kSmallTask))->host.at("openblas_core"));
}

std::vector<std::string> ids_of(const Json& items)
{
    std::vector<std::string> ids;
    for (const Json& item : items)
        ids.push_back(item.at("id"));
    return ids;
}

/// The preloaded library sets the wall clock back by an hour after half a second.
TEST_F(ProbeProgram, MeasuresByTheSteadyClockWhenTheWallClockIsSet)
{
    const Outcome outcome =
        run_task(R"({"name": "t", "limit_s": 600, "repeats": 60, "target_interval": 0, "operators": [
        {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}]})",
                 {"LD_PRELOAD=" FATHOM_STEP_CLOCK});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    // Not an hour less or more: a busy machine takes some seconds.
    EXPECT_NEAR(result->clock_step_s, -3600, 30);
    EXPECT_GT(result->wall_s, 1);
    EXPECT_LT(result->wall_s, 600);
    std::int64_t with_step = 0;
    for (const DisturbedSample& one : result->operators[0].disturbed)
        with_step += std::count(one.causes.begin(), one.causes.end(), "clock");
    EXPECT_GE(with_step, 1);
    for (const double sample_s : result->operators[0].samples_s) {
        EXPECT_GT(sample_s, 0);
        EXPECT_LT(sample_s, 60);
    }
}

/// An agent must not offer what cannot run here.
TEST_F(ProbeProgram, ListsOperatorsThatCannotRunHereApartWithTheReason)
{
    const Json without = parse_json(run({"--list", "--output", "json"}, {"FATHOM_FETCH_URL="}).out).value();
    const Json with =
        parse_json(run({"--list", "--output", "json"}, {"FATHOM_FETCH_URL=http://localhost"}).out).value();

    EXPECT_THAT(ids_of(without.at("operators")), Not(Contains("network_fetch")));
    EXPECT_THAT(ids_of(without.at("unavailable")), Contains("network_fetch"));
    EXPECT_THAT(without.at("unavailable").dump(), HasSubstr("FATHOM_FETCH_URL is not set"));
    EXPECT_THAT(ids_of(with.at("operators")), Contains("network_fetch"));
    EXPECT_THAT(run({"--list"}, {"FATHOM_FETCH_URL="}).out,
                HasSubstr("network_fetch       not available here: the environment variable FATHOM_FETCH_URL"));
}

/// Whether it was built with MPI or not: on a machine without there is no launcher.
TEST_F(ProbeProgram, OffersNoMpiOperatorWhereThereIsNoMpi)
{
    const std::string nowhere = "PATH=" + folder_;
    const Json listed = parse_json(run({"--list", "--output", "json"}, {nowhere}).out).value();
    const Outcome outcome = run_task(R"({"name": "t", "operators": [{"id": "mpi_latency"}]})", {nowhere});

    for (const char* const id : {"mpi_latency", "mpi_bandwidth", "mpi_allreduce", "mpi_alltoall"}) {
        EXPECT_THAT(ids_of(listed.at("operators")), Not(Contains(id)));
        EXPECT_THAT(ids_of(listed.at("unavailable")), Contains(id));
    }
    EXPECT_THAT(listed.at("unavailable").dump(), HasSubstr("no MPI on this unit: "));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "") << "no result, never one of zero";
}

TEST_F(ProbeProgram, FailsWithTheReasonWhenAnOperatorCannotRunHere)
{
    const Outcome outcome = run_task(R"({"name": "t", "operators": [{"id": "network_fetch"}]})", {"FATHOM_FETCH_URL="});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("network_fetch(bytes=1048576): the environment variable FATHOM_FETCH_URL"));
}

/// Operators that fork, write files and run threads of their own, side by side in one process.
TEST_F(ProbeProgram, RunsOperatorsOfAllKindsTogether)
{
    const Outcome outcome =
        run_task(R"({"name": "all", "limit_s": 600, "repeats": 2, "min_sample_s": 0.002, "operators": [
        {"id": "stream_triad", "parameters": {"n": 20000}}, {"id": "reduction", "parameters": {"n": 5000}},
        {"id": "file_write", "parameters": {"bytes": 100000}}, {"id": "file_read", "parameters": {"bytes": 100000}},
        {"id": "sort", "parameters": {"n": 5000}}, {"id": "random_access", "parameters": {"n": 5000}},
        {"id": "conjugate_gradient", "parameters": {"edge": 10}}, {"id": "trigonometric", "parameters": {"n": 5000}},
        {"id": "compression", "parameters": {"bytes": 20000}}, {"id": "decompression", "parameters": {"bytes": 20000}},
        {"id": "sgemm", "parameters": {"m": 64, "n": 64, "k": 64}}, {"id": "fft2d", "parameters": {"n": 32}}]})");

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = result_of(outcome);
    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 12U);
    for (const OperatorResult& item : result->operators)
        EXPECT_LE(item.error, item.tolerance) << item.id;
    const OperatorResult& compression = result->operators[8];
    EXPECT_EQ(compression.id, "compression");
    EXPECT_GT(compression.figures.at("compressed_fraction"), 0);
}

TEST_F(ProbeProgram, HelpsAndRefusesWrongArguments)
{
    EXPECT_EQ(run({"--help"}).exit_code, 0);
    EXPECT_THAT(run({"--help"}).out, HasSubstr("Exit codes"));
    EXPECT_THAT(run({"--version"}).out, HasSubstr("fathom-probe 0."));
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_EQ(run({"--task"}).exit_code, 2);
    EXPECT_EQ(run({"--list", "--output", "xml"}).exit_code, 2);
    EXPECT_EQ(run({"--output", "json"}).exit_code, 2);
    EXPECT_EQ(run({"--frobnicate"}).exit_code, 2);
}

TEST_F(ProbeProgram, FailsWhenTheResultCannotBeWritten)
{
    const pid_t child = fork();
    if (child == 0) {
        if (std::freopen("/dev/full", "w", stdout) == nullptr) _exit(120);
        execl(FATHOM_PROBE, "fathom-probe", "--list", nullptr);
        _exit(123);
    }

    EXPECT_EQ(wait(child).exit_code, 1);
}

} // namespace
} // namespace fathom
