#include "probes/runner/run_task.hpp"
#include "tests/probes/runner/small_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace fathom::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ValidateTask, CompletesParametersAndVersions)
{
    const ProbeTask task = validated({.name = "t", .operators = {{.id = "dgemm", .parameters = {{"m", 64}}}}});

    EXPECT_EQ(task.operators[0].parameters, (Parameters{{"k", 1024}, {"m", 64}, {"n", 1024}}));
    EXPECT_EQ(task.operators[0].version, 1);
}

TEST(ValidateTask, ReportsEveryError)
{
    const Result<ProbeTask> task =
        validate_task({.name = "t",
                       .operators = {{.id = "lu", .parameters = {}},
                                     {.id = "dgemm", .version = 9, .parameters = {{"m", 0}, {"size", 4}}}}});

    ASSERT_FALSE(task);
    const Error error = task.error();
    EXPECT_EQ(error.code, Errc::kInvalid);
    std::vector<std::string> fields;
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    EXPECT_THAT(fields, ElementsAre("operators[0].id", "operators[1].version", "operators[1].parameters.m",
                                    "operators[1].parameters.size"));
}

TEST(RunTask, MeasuresEveryOperator)
{
    const Result<ProbeResult> result = run_task(validated(small_task()), conditions());

    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 2U);
    for (const OperatorResult& item : result->operators) {
        EXPECT_EQ(item.samples_s.size(), 3U);
        EXPECT_GT(item.first_s, 0);
        EXPECT_GT(item.median_s, 0);
        EXPECT_LE(item.ci_low_s, item.median_s);
        EXPECT_LE(item.median_s, item.ci_high_s);
        EXPECT_LE(item.error, item.tolerance);
        EXPECT_EQ(item.checksum.size(), 16U);
    }
    EXPECT_DOUBLE_EQ(result->operators[0].operations, 2 * 32 * 32 * 32);
    EXPECT_DOUBLE_EQ(result->task_s, 3 * result->operators[0].median_s + result->operators[1].median_s);
}

TEST(RunTask, OnSeveralCoresMeasuresWithOneThreadWhatProgramsComputeInTheirOwn)
{
    ProbeTask task = small_task();
    task.operators.push_back({.id = "trigonometric", .parameters = {{"n", 200'000}}});
    RunConditions here = conditions();
    EXPECT_FALSE(run_task(validated(task), here)->operators[2].one_thread) << "one thread was all it had";
    here.cores = 2;

    const Result<ProbeResult> result = run_task(validated(task), here);

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_FALSE(result->operators[0].one_thread) << "the library decides how many threads compute a product";
    for (const std::size_t i : {1U, 2U}) {
        const OperatorResult& item = result->operators[i];
        ASSERT_TRUE(item.one_thread) << item.id;
        EXPECT_EQ(item.one_thread->samples_s.size(), 3U);
        EXPECT_EQ(item.one_thread->executions.size(), 3U);
        EXPECT_GT(item.one_thread->median_s, 0);
        EXPECT_LE(item.one_thread->ci_low_s, item.one_thread->median_s);
    }
    const Result<ProbeResult> read = parse_probe_result(to_json(*result));
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->operators[2].one_thread->samples_s, result->operators[2].one_thread->samples_s);
}

TEST(RunTask, MeasuresWithOneThreadOnlyWhereThereIsTime)
{
    ProbeTask task = small_task();
    task.operators = {{.id = "trigonometric", .parameters = {{"n", 2'000'000}}}};
    task.min_sample_s = 0.05;
    task.limit_s = 200;
    RunConditions here = conditions();
    here.cores = 2;
    here.process_start -= std::chrono::seconds(160); // of 200, and nothing of the kind is begun after 150

    const Result<ProbeResult> result = run_task(validated(task), here);

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_FALSE(result->operators[0].one_thread);
}

TEST(RunTask, TakesSamplesInTurn)
{
    std::vector<std::string> steps;
    RunConditions here = conditions();
    here.progress = [&](const std::string& what) { steps.push_back(what.substr(0, what.find('('))); };

    ASSERT_TRUE(run_task(validated(small_task()), here));

    EXPECT_THAT(steps,
                ElementsAre("preparing dgemm", "preparing fft1d", "sample 1 of 3 of dgemm", "sample 1 of 3 of fft1d",
                            "sample 2 of 3 of dgemm", "sample 2 of 3 of fft1d", "sample 3 of 3 of dgemm",
                            "sample 3 of 3 of fft1d", "verifying dgemm", "verifying fft1d"));
}

TEST(RunTask, SaysHowOftenEachSampleExecutedItsOperator)
{
    const Result<ProbeResult> result = run_task(validated(small_task()), conditions());

    ASSERT_TRUE(result) << describe(result.error());
    for (const OperatorResult& item : result->operators) {
        ASSERT_EQ(item.executions.size(), item.samples_s.size());
        for (std::size_t i = 0; i < item.executions.size(); ++i)
            EXPECT_GE(static_cast<double>(item.executions[i]) * item.samples_s[i], 0.001);
    }
}

TEST(RunTask, MakesInputsFromTheSeedOfTheTask)
{
    ProbeTask task = small_task();
    task.seed = 4711;
    const Result<ProbeResult> seeded = run_task(validated(task), conditions());
    const Result<ProbeResult> again = run_task(validated(task), conditions());
    const Result<ProbeResult> usual = run_task(validated(small_task()), conditions());
    ASSERT_TRUE(seeded && again && usual);

    EXPECT_EQ(seeded->seed, 4711);
    EXPECT_EQ(usual->seed, 0);
    for (std::size_t i = 0; i < usual->operators.size(); ++i) {
        EXPECT_EQ(seeded->operators[i].checksum, again->operators[i].checksum);
        EXPECT_NE(seeded->operators[i].checksum, usual->operators[i].checksum);
    }
}

TEST(RunTask, GivesAResultThatCanBeRead)
{
    const Result<ProbeResult> result = run_task(validated(small_task()), conditions());
    ASSERT_TRUE(result);

    const Result<ProbeResult> read = parse_probe_result(to_json(*result));

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->operators[1].checksum, result->operators[1].checksum);
}

TEST(RunTask, TellsTheMemoryOfADeviceApart)
{
    RegisteredOperator on_device = *find_operator("stream_triad");
    on_device.device_memory = [](const Parameters& parameters) {
        return 24.0 * static_cast<double>(parameters.at("n"));
    };
    RunConditions here = conditions();
    here.uploads = {on_device};
    here.usable_device_memory_bytes = 23e6;
    const ProbeTask task = validated(
        {.name = "t", .operators = {{.id = "stream_triad", .parameters = {{"n", 1000000}}}}, .target_interval = 0});

    const Result<ProbeResult> refused = run_task(task, here);
    here.usable_device_memory_bytes = 24e6;

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooLarge);
    EXPECT_THAT(refused.error().detail, HasSubstr("on the GPU"));
    EXPECT_TRUE(run_task(task, here));
}

TEST(RunTask, RefusesBeforeAllocatingWhatDoesNotFit)
{
    const Result<ProbeResult> result =
        run_task(validated({.name = "t", .operators = {{.id = "stream_triad", .parameters = {{"n", 1000000}}}}}),
                 conditions(23e6)); // 24 bytes an element: 24 MB

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kTooLarge);
    EXPECT_THAT(result.error().detail, HasSubstr("needs 24.0 MB, 23.0 MB are usable"));
}

TEST(RunTask, GivesUpWhenTheLimitIsOutOfReach)
{
    ProbeTask task = small_task();
    task.repeats = 1000;
    task.min_sample_s = 0.1; // 2 operators · 1000 samples · 0.1 s = 200 s
    task.limit_s = 1;
    const auto start = std::chrono::steady_clock::now();

    const Result<ProbeResult> result = run_task(validated(task), conditions());

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kDeadline);
    EXPECT_THAT(result.error().detail, HasSubstr("longer than its limit of 1 s"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)); // of 200
}

} // namespace
} // namespace fathom::probes
