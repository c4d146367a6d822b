#include "core/decide/probing/generate_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;

// M4, golden.
TEST(ScaleCount, DividesByTheRatioAndKeepsAtLeastOne)
{
    EXPECT_EQ(scale_count(3000, 1000), 3);
    EXPECT_EQ(scale_count(2000, 1000), 2);
    EXPECT_EQ(scale_count(1000, 1000), 1);
    EXPECT_EQ(scale_count(1, 1000), 1);
}

TEST(ScaleCount, RoundsToTheNearest)
{
    EXPECT_EQ(scale_count(1499, 1000), 1);
    EXPECT_EQ(scale_count(1500, 1000), 2);
    EXPECT_EQ(scale_count(2499, 1000), 2);
}

TEST(ScaleCount, DoesNotOverflow)
{
    EXPECT_EQ(scale_count(std::numeric_limits<std::int64_t>::max(), 1), std::numeric_limits<std::int64_t>::max());
}

/// A library of two: cube(n) does n^3 operations in classes 10, 100, 1000; line(n) does n, without classes.
const OperatorManifest* find_manifest(std::string_view id, std::int64_t)
{
    static const OperatorManifest cube = [] {
        OperatorManifest manifest;
        manifest.id = "cube";
        manifest.parameters = {{"n", 1, 100000, 100, ""}};
        manifest.operation_count = "n^3";
        manifest.byte_count = "8*n^2";
        manifest.size_classes = {{"small", {{"n", 10}}}, {"medium", {{"n", 100}}}, {"large", {{"n", 1000}}}};
        return manifest;
    }();
    static const OperatorManifest line = [] {
        OperatorManifest manifest;
        manifest.id = "line";
        manifest.parameters = {{"n", 1, 100000, 100, ""}};
        manifest.operation_count = "n";
        manifest.byte_count = "8*n";
        return manifest;
    }();
    if (id == "cube") return &cube;
    return id == "line" ? &line : nullptr;
}

OperatorUse use(const std::string& id, std::int64_t n, std::int64_t count)
{
    OperatorUse made;
    made.id = id;
    made.version = 1;
    made.parameters = {{"n", n}};
    made.count = count;
    return made;
}

OperatorUse labelled(OperatorUse made, const std::string& label, std::vector<std::string> inputs = {})
{
    made.label = label;
    made.inputs = std::move(inputs);
    return made;
}

ProbeTask generate(const std::vector<OperatorUse>& operators, const GenerationRule& rule = {})
{
    const std::vector<ProbeTask> tasks = generate_probe_tasks("mix", operators, find_manifest, rule);
    EXPECT_EQ(tasks.size(), 1U);
    return tasks.front();
}

// M4, golden, for a whole job.
TEST(GenerateProbeTasks, ScalesTheCountsOfAJob)
{
    const ProbeTask task = generate({use("a", 1, 3000), use("b", 1, 2000), use("c", 1, 1000), use("d", 1, 1)});

    std::vector<std::int64_t> counts;
    for (const OperatorUse& one : task.operators)
        counts.push_back(one.count);
    EXPECT_THAT(counts, ElementsAre(3, 2, 1, 1));
}

TEST(GenerateProbeTasks, JoinsEqualOperatorsAndKeepsUnlikeSizes)
{
    const ProbeTask task = generate({use("line", 7, 1500), use("line", 9, 20), use("line", 7, 1500)});

    ASSERT_EQ(task.operators.size(), 2U);
    EXPECT_EQ(task.operators[0].parameters.at("n"), 7);
    EXPECT_EQ(task.operators[0].count, 3);
    EXPECT_EQ(task.operators[1].count, 1);
}

TEST(GenerateProbeTasks, JoinsTheSizesOfAClassAtTheOneWithMostWork)
{
    // Both are nearest to the class of 100. 120^3 = 1 728 000, 6000 times; 90^3 = 729 000, 2000 times.
    const ProbeTask task = generate({use("cube", 90, 2000), use("cube", 120, 6000), use("cube", 12, 5000)});

    ASSERT_EQ(task.operators.size(), 2U);
    EXPECT_EQ(task.operators[0].parameters.at("n"), 12);
    EXPECT_EQ(task.operators[0].count, 5);
    EXPECT_EQ(task.operators[1].parameters.at("n"), 120);
    EXPECT_EQ(task.operators[1].count, 7) << "6000 + 2000 * 729 / 1728 = 6844, divided by 1000";
}

TEST(GenerateProbeTasks, KeepsEverySizeWhenAsked)
{
    const ProbeTask task =
        generate({use("cube", 90, 2), use("cube", 120, 6), use("cube", 5000, 3)}, {.ratio = 1, .keeps_sizes = true});

    ASSERT_EQ(task.operators.size(), 3U);
    EXPECT_EQ(task.operators[2].parameters.at("n"), 5000);
    EXPECT_EQ(task.operators[2].count, 3);
}

TEST(GenerateProbeTasks, MeasuresHugeSizesAtTheLargestClass)
{
    // 2000^3 is eight times the work of the largest class: 1000 executions there are 8000 of the class.
    const ProbeTask task = generate({use("cube", 2000, 1000)});

    EXPECT_EQ(task.operators[0].parameters.at("n"), 1000);
    EXPECT_EQ(task.operators[0].count, 8);
}

TEST(GenerateProbeTasks, KeepsWhatStandsForTheRemainderApart)
{
    OperatorUse rest = use("line", 7, 4000);
    rest.remainder = "memory";
    rest.share = 0.25;
    const ProbeTask task = generate({use("line", 7, 1500), rest});

    ASSERT_EQ(task.operators.size(), 2U);
    EXPECT_EQ(task.operators[1].remainder, "memory");
    EXPECT_EQ(task.operators[1].count, 4);
    EXPECT_EQ(task.operators[1].share, 0.25);
}

TEST(GenerateProbeTasks, LeavesOutTheLeastBeyondItsLimit)
{
    const ProbeTask task =
        generate({use("line", 1, 10), use("line", 2, 1000), use("line", 3, 1000)}, {.most_operators = 2});

    ASSERT_EQ(task.operators.size(), 2U);
    EXPECT_EQ(task.operators[0].parameters.at("n"), 2);
    EXPECT_EQ(task.operators[1].parameters.at("n"), 3);
}

OperatorUse shared(OperatorUse made, double share)
{
    made.share = share;
    return made;
}

TEST(LeftOutOperators, AreCountedWithTheirShareOfTheTime)
{
    std::vector<OperatorUse> operators;
    for (std::int64_t n = 1; n <= 18; ++n)
        operators.push_back(shared(use("line", n, 10), n == 1 ? 0.03125 : n == 2 ? 0.015625 : 0.05));

    EXPECT_EQ(generate(operators).operators.size(), 16U);
    const LeftOutOperators left_out = left_out_operators(operators, find_manifest);
    EXPECT_EQ(left_out.count, 2);
    EXPECT_EQ(left_out.share, 0.046875);
}

TEST(LeftOutOperators, AreNoneWithinTheLimitAndWhereSizesAreJoined)
{
    EXPECT_EQ(left_out_operators({}, find_manifest).count, 0);
    // Twenty sizes of one class are one operator.
    std::vector<OperatorUse> operators;
    for (std::int64_t n = 90; n < 110; ++n)
        operators.push_back(use("cube", n, 1));
    const LeftOutOperators left_out = left_out_operators(operators, find_manifest);
    EXPECT_EQ(left_out.count, 0);
    EXPECT_EQ(left_out.share, 0.0);
}

TEST(LeftOutOperators, HaveNoShareWhereOneOfThemHasNone)
{
    const std::vector<OperatorUse> operators = {use("line", 1, 10), shared(use("line", 2, 10), 0.5),
                                                shared(use("line", 3, 10), 0.25)};

    const LeftOutOperators left_out = left_out_operators(operators, find_manifest, {.most_operators = 1});
    EXPECT_EQ(left_out.count, 2);
    EXPECT_EQ(left_out.share, std::nullopt);
}

// M5, golden: P1 runs 3 times, P2 twice, P3 once on the averages of both.
TEST(GenerateProbeTasks, GoldenDataFlow)
{
    const ProbeTask task = generate({labelled(use("cube", 100, 1000), "P3", {"P1", "P2"}),
                                     labelled(use("cube", 100, 3000), "P1"), labelled(use("cube", 100, 2000), "P2")});

    ASSERT_EQ(task.operators.size(), 3U);
    std::map<std::string, OperatorUse> found;
    for (const OperatorUse& one : task.operators)
        found[one.label] = one;
    EXPECT_EQ(found["P1"].count, 3);
    EXPECT_EQ(found["P2"].count, 2);
    EXPECT_EQ(found["P3"].count, 1);
    EXPECT_THAT(found["P3"].inputs, ElementsAre("P1", "P2"));
    EXPECT_TRUE(parse_probe_task(to_json(task)));
}

TEST(GenerateProbeTasks, PartsThatShareNoDataAreOneTaskOrSeveral)
{
    const std::vector<OperatorUse> operators{labelled(use("line", 1, 1), "a"), labelled(use("line", 2, 1), "b", {"a"}),
                                             use("line", 3, 1)};

    const std::vector<ProbeTask> one = generate_probe_tasks("mix", operators, find_manifest);
    const std::vector<ProbeTask> several =
        generate_probe_tasks("mix", operators, find_manifest, {.form = TaskForm::kSeveralTasks});

    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].operators.size(), 3U);
    ASSERT_EQ(several.size(), 2U);
    EXPECT_EQ(several[0].name, "mix/1");
    EXPECT_EQ(several[0].operators.size(), 2U);
    EXPECT_EQ(several[1].name, "mix/2");
    EXPECT_EQ(several[1].operators.size(), 1U);
}

RC_GTEST_PROP(GenerateProbeTasksProperty, OrderDoesNotMatterAndWorkIsKept, ())
{
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 3000));
    RC_PRE(!sizes.empty());
    std::vector<OperatorUse> operators;
    for (const int n : sizes)
        operators.push_back(use("cube", n, *rc::gen::inRange(1, 1'000'000)));
    std::vector<OperatorUse> shuffled = operators;
    std::rotate(shuffled.begin(), shuffled.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(shuffled)),
                shuffled.end());
    const auto work = [](const std::vector<OperatorUse>& uses) {
        double sum = 0;
        for (const OperatorUse& one : uses)
            sum += static_cast<double>(one.count) * std::pow(static_cast<double>(one.parameters.at("n")), 3);
        return sum;
    };

    const GenerationRule rule{.ratio = 1};
    const ProbeTask task = generate_probe_tasks("x", operators, find_manifest, rule).front();
    const ProbeTask other = generate_probe_tasks("x", shuffled, find_manifest, rule).front();

    RC_ASSERT(to_json(task) == to_json(other));
    RC_ASSERT(task.operators.size() <= 3U);
    // A count is a whole number: each class may be off by half an execution for every join.
    RC_ASSERT(std::abs(work(task.operators) / work(operators) - 1) < 0.6);
}

} // namespace
} // namespace fathom
