#include "probes/runner/run_task.hpp"
#include "probes/runner/sampled_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace fathom::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProbeTask small_task()
{
    return {.name = "small",
            .operators = {{.id = "dgemm", .parameters = {{"m", 32}, {"n", 32}, {"k", 32}}, .count = 3},
                          {.id = "fft1d", .parameters = {{"n", 256}}}},
            .repeats = 3,
            .target_interval = 0,
            .min_sample_s = 0.001,
            .limit_s = 600};
}

RunConditions conditions(double memory_bytes = 1e9)
{
    return {
        .process_start = std::chrono::steady_clock::now(), .usable_memory_bytes = memory_bytes, .progress = nullptr};
}

ProbeTask validated(ProbeTask task)
{
    Result<ProbeTask> result = validate_task(std::move(task));
    EXPECT_TRUE(result) << describe(result.error());
    return *result;
}

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

/// Which operator was sampled how often.
std::vector<std::int64_t> sample_counts(const ProbeResult& result)
{
    std::vector<std::int64_t> counts;
    for (const OperatorResult& item : result.operators)
        counts.push_back(static_cast<std::int64_t>(item.samples_s.size()));
    return counts;
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

/// Sleeps: a kernel whose time is known, on which the clockwork of samples can be tested.
class Sleeper final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override
    {
        ++executions;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    double error() override { return std::numeric_limits<double>::quiet_NaN(); }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int executions = 0;
};

RegisteredOperator sleeper()
{
    return {
        .manifest = find_operator("dgemm")->manifest,
        .make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Sleeper>(); },
        .memory = [](const Parameters&) { return 0.0; }};
}

/// Sleeps as long, and says that a fifth of it was the executions: what processes do that have to be woken first.
class TimedByItself final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
    Result<void> execute_times(std::int64_t executions) override
    {
        execute();
        own_s_ = executions < kTooMany ? 0.001 * static_cast<double>(executions) : 1e9;
        return {};
    }
    std::optional<double> timed_s() const override { return own_s_; }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static constexpr std::int64_t kTooMany = 1000;

  private:
    double own_s_{};
};

/// Its executions take 5 ms or 20 ms, two of each in turn: however many there are, their median is not known within 37
/// %.
class Unsteady final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override
    {
        std::this_thread::sleep_for(std::chrono::microseconds(executions++ % 4 < 2 ? 5000 : 80000));
    }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int executions = 0; ///< of all instances
};

/// Replaces the operator `id`, at its default size.
RegisteredOperator unsteady(const char* id)
{
    return {
        .manifest = find_operator(id)->manifest,
        .make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Unsteady>(); },
        .memory = [](const Parameters&) { return 0.0; }};
}

TEST(RunTask, BelievesAnOperatorThatTimesItselfUpToWhatWasSeen)
{
    RegisteredOperator item = sleeper();
    item.make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> {
        return std::make_unique<TimedByItself>();
    };
    SampledOperator few(item, {.id = "dgemm", .parameters = {}}, 1);
    SampledOperator many(item, {.id = "dgemm", .parameters = {}, .count = TimedByItself::kTooMany}, 1);
    ASSERT_TRUE(few.start(7, {.min_sample_s = 0.001}));
    ASSERT_TRUE(many.start(7, {.min_sample_s = 0.001, .count_budget_s = 1e6}));

    EXPECT_DOUBLE_EQ(few.sample().value(), 0.001);
    EXPECT_LT(many.sample().value(), 1) << "not a million seconds";
}

/// An unsteady operator, and one that is measured at once.
ProbeTask uneven_task()
{
    return {.name = "uneven",
            .operators = {{.id = "spmv", .parameters = {}}, {.id = "dgemm", .parameters = {}}},
            .repeats = 3,
            .min_sample_s = 0.001};
}

Result<ProbeResult> run_uneven(const ProbeTask& task)
{
    RunConditions here = conditions();
    here.uploads = {unsteady("spmv"), sleeper()};
    return run_task(*validate_task(task, here.uploads), here);
}

std::int64_t least_count(const ProbeResult& result)
{
    const std::vector<std::int64_t> counts = sample_counts(result);
    return *std::min_element(counts.begin(), counts.end());
}

TEST(RunTask, GoesOnWithTheOperatorsWhoseMedianIsNotKnownWellEnough)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.45; // between the sleeper's jitter on a busy machine and the unsteady one's 47 %
    task.sample_budget_s = 3;

    // One that stood still meanwhile had no time for more samples.
    Result<ProbeResult> result = run_uneven(task);
    for (int i = 0; i < 4 && !(result && least_count(*result) >= std::int64_t{kMinForInterval}); ++i)
        result = run_uneven(task);

    ASSERT_TRUE(result) << describe(result.error());
    // Beside other programs a sleeper may be unsteady, too; who has fewer samples must be known well enough all the
    // same.
    const std::vector<std::int64_t> counts = sample_counts(*result);
    EXPECT_GE(counts[0], std::int64_t{kMinForInterval});
    EXPECT_GE(counts[1], std::int64_t{kMinForInterval});
    if (counts[0] != counts[1])
        EXPECT_TRUE(result->operators[counts[0] < counts[1] ? 0 : 1].is_target_reached)
            << counts[0] << " " << counts[1];
}

TEST(RunTask, TakesNoMoreSamplesThanTheTaskAllows)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.001; // out of reach
    task.sample_budget_s = 1;
    task.limit_s = 200;
    auto start = std::chrono::steady_clock::now();

    // One that stood still in its first samples had no time for more.
    Result<ProbeResult> result = run_uneven(task);
    for (int i = 0; i < 4 && result && sample_counts(*result)[0] <= 3; ++i) {
        start = std::chrono::steady_clock::now();
        result = run_uneven(task);
    }

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_FALSE(result->operators[0].is_target_reached);
    EXPECT_GT(sample_counts(*result)[0], 3);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)); // 60 % of the limit without a budget

    task.target_interval = 0;
    EXPECT_THAT(sample_counts(*run_uneven(task)), ElementsAre(3, 3));
}

TEST(RunTask, LeavesTimeToVerifyResults)
{
    ProbeTask task = uneven_task();
    task.target_interval = 0.001;
    task.sample_budget_s = 100;
    task.limit_s = 5;

    // Samples take 3 s. If they took all of the time, none would end within it; with the rest of it only one does not
    // that stood still meanwhile.
    bool has_ended_in_time = false;
    for (int i = 0; i < 5 && !has_ended_in_time; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const bool is_whole = run_uneven(task).has_value();
        has_ended_in_time = is_whole && std::chrono::steady_clock::now() - start < std::chrono::seconds(5);
    }
    EXPECT_TRUE(has_ended_in_time);
}

/// Counts how often it is made.
class Counted final : public ProbeOperator {
  public:
    Counted() { ++made; }
    Result<void> prepare(std::uint64_t seed) override
    {
        seeds.push_back(seed);
        return {};
    }
    void execute() override { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int made = 0;
    static inline std::vector<std::uint64_t> seeds;
};

/// Runs a task of one such operator that takes so much memory.
void run_counted(double memory_bytes)
{
    RegisteredOperator counted = sleeper();
    counted.make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Counted>(); };
    counted.memory = [=](const Parameters&) { return memory_bytes; };
    RunConditions here = conditions(100e6);
    here.uploads = {counted};
    ProbeTask task{.name = "t", .operators = {{.id = "dgemm", .parameters = {}}}, .repeats = 8, .target_interval = 0};
    task.seed = 5;
    // Making another instance takes a small share of that, also where other programs have the processors.
    task.min_sample_s = 0.3;
    Counted::made = 0;
    Counted::seeds.clear();
    ASSERT_TRUE(run_task(*validate_task(task, here.uploads), here));
}

TEST(RunTask, TakesSamplesFromInstancesWithMemoryOfTheirOwn)
{
    // One that stood still while it made another makes no more of them.
    for (int i = 0; i < 5 && Counted::made != 8; ++i)
        run_counted(40e6);

    EXPECT_EQ(Counted::made, 8); // one for each sample
    EXPECT_THAT(Counted::seeds, testing::Each(5U));
}

TEST(RunTask, KeepsOneInstanceWhereMemoryIsShort)
{
    run_counted(60e6); // of 100 MB

    EXPECT_EQ(Counted::made, 1);
}

int executions_of_one_sample(std::int64_t count, const SampleRule& rule)
{
    const RegisteredOperator registered = sleeper();
    SampledOperator item(registered, {.id = "dgemm", .parameters = {{"m", 1}, {"n", 1}, {"k", 1}}, .count = count}, 1);
    EXPECT_TRUE(item.start(1, rule));
    const int before = Sleeper::executions;
    EXPECT_GE(item.sample().value(), 0.001);
    return Sleeper::executions - before;
}

TEST(SampledOperator, ExecutesUntilTheSampleIsLongEnough)
{
    // A single one is long enough where the process stood still meanwhile.
    int executions = executions_of_one_sample(1, {.min_sample_s = 0.05});
    for (int i = 0; i < 20 && executions < 2; ++i)
        executions = executions_of_one_sample(1, {.min_sample_s = 0.05});

    EXPECT_GE(executions, 2);
    EXPECT_LE(executions, 11);
}

TEST(SampledOperator, ExecutesOnceWhenOneIsLongEnough)
{
    EXPECT_EQ(executions_of_one_sample(1, {.min_sample_s = 0}), 1);
    EXPECT_EQ(executions_of_one_sample(1, {.min_sample_s = 0, .warm_up_each = true}), 2);
}

TEST(SampledOperator, ExecutesTheWholeCountWhenTheBudgetAllows)
{
    EXPECT_EQ(executions_of_one_sample(40, {.min_sample_s = 0, .count_budget_s = 10'000}), 40);
    EXPECT_EQ(executions_of_one_sample(40, {.min_sample_s = 0, .count_budget_s = 0.01}), 1);
}

TEST(SampledOperator, ReportsAnErrorThatIsNotANumberAsLargest)
{
    const RegisteredOperator registered = sleeper();
    SampledOperator item(registered, {.id = "dgemm", .parameters = {{"m", 1}, {"n", 1}, {"k", 1}}}, 1);
    ASSERT_TRUE(item.start(1, {.min_sample_s = 0}));
    ASSERT_TRUE(item.sample());

    EXPECT_EQ(item.result().value().error, 1e300);
}

} // namespace
} // namespace fathom::probes
