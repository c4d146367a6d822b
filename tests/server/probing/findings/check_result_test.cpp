#include "server/probing/findings/check_result.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::right_result;
using test::simple_operator;
using testing::HasSubstr;
using testing::StartsWith;

OperatorLibrary library()
{
    return OperatorLibrary({{simple_operator("op1"), {}, {}}, {simple_operator("op2"), {}, {}}});
}

ProbeTask task_of_two()
{
    ProbeTask task;
    task.name = "two";
    std::vector<FieldError> errors;
    OperatorUse one;
    one.id = "op1";
    one.count = 3;
    OperatorUse two;
    two.id = "op2";
    task.operators = library().resolve({one, two}, "operators", errors);
    return task;
}

std::string refusal(const ProbeResult& result, const ProbeTask& task = task_of_two())
{
    const Result<ProbeResult> read = read_probe_result(to_json(result).dump());
    if (!read) return describe(read.error());
    const std::vector<ResultFault> faults = check_probe_result(*read, task, 1, library());
    return faults.empty() ? "" : std::string(to_string(to_finding(faults).kind)) + ": " + to_finding(faults).detail;
}

TEST(ReadProbeResult, TakesARightResult)
{
    EXPECT_EQ(refusal(right_result(task_of_two())), "");
}

/// With what each operator took alone.
ProbeResult right_copies(int copies)
{
    ProbeResult result = right_result(task_of_two());
    result.wall_s *= 2;
    for (int i = 1; i < copies; ++i)
        result.copies.push_back(right_result(task_of_two()));
    for (OperatorResult& item : result.operators)
        item.alone = SampledTimes{item.samples_s, item.executions, item.median_s, item.ci_low_s, item.ci_high_s};
    return result;
}

std::string copies_refusal(const ProbeResult& result, std::int64_t copies)
{
    const std::vector<ResultFault> faults = check_copies(result, task_of_two(), copies, library());
    return faults.empty() ? "" : to_finding(faults).detail;
}

TEST(CheckCopies, EachCopyIsCheckedAndTheFirstSaysWhatItTookAlone)
{
    EXPECT_EQ(copies_refusal(right_copies(3), 3), "");
    EXPECT_THAT(copies_refusal(right_copies(2), 3), HasSubstr("copies are 2, ordered were 3"));

    ProbeResult result = right_copies(3);
    result.operators[1].alone.reset();
    EXPECT_THAT(copies_refusal(result, 3), HasSubstr("operators[1].alone is missing"));
    result = right_copies(3);
    result.copies[1].operators[0].median_s *= 2;
    EXPECT_THAT(copies_refusal(result, 3), HasSubstr("copies[1].operators[0].median_s is not the median"));
    result = right_copies(3);
    result.operators[0].alone->median_s *= 2;
    EXPECT_THAT(copies_refusal(result, 3), HasSubstr("operators[0].alone.median_s is not the median"));
    result = right_copies(3);
    result.copies[0].unit_count = 2;
    EXPECT_THAT(copies_refusal(result, 3), HasSubstr("copies[0].unit_count"));
}

TEST(JudgeCaches, JudgesByTheLibraryAndNotByWhatTheCenterSays)
{
    OperatorManifest ruled = simple_operator("op1"); // 80 bytes an array at n = 10
    ruled.cache_rule = CacheRule{.array_bytes = "8*n", .memory_bytes = "24*n", .least_multiple = 4, .larger_sizes = {}};
    ruled.working_set = WorkingSet{.bytes = "8*n", .parts = "1"};
    const OperatorLibrary with_rule({{ruled, {}, {}}, {simple_operator("op2"), {}, {}}});
    ProbeResult result = right_result(task_of_two());
    result.operators[1].cache_verdict = "said by the center";

    result.host["last_level_cache_bytes"] = 21;
    judge_caches(result, with_rule);
    EXPECT_THAT(result.operators[0].cache_verdict, HasSubstr("not of memory"));
    EXPECT_EQ(result.operators[1].cache_verdict, "");

    result.host["last_level_cache_bytes"] = 20;
    result.host["caches"]["L2"] = {{"one_bytes", 80}, {"all_bytes", 80}};
    judge_caches(result, with_rule);
    EXPECT_EQ(result.operators[0].cache_verdict, "");
    EXPECT_EQ(result.operators[0].memory_level, "L2");
    EXPECT_EQ(result.operators[1].memory_level, "") << "no working set";
}

TEST(ReadProbeResult, RefusesGarbage)
{
    for (const std::string text : {"", "Segmentation fault", "[]", "{}", R"({"task": 1})", "{\"task\": \"\xff\"}",
                                   R"({"operators": [{"median_s": NaN}]})"})
        EXPECT_FALSE(read_probe_result(text)) << text;
    EXPECT_EQ(read_probe_result(std::string(5UL << 20U, ' ')).error().code, Errc::kTooLarge);
}

TEST(ReadProbeResult, RefusesOtherOperatorsSizesVersionsAndCounts)
{
    ProbeResult result = right_result(task_of_two());
    result.operators.pop_back();
    EXPECT_THAT(refusal(result), HasSubstr("op2(n=10) stands there 0 times"));
    result = right_result(task_of_two());
    result.operators.push_back(result.operators[0]);
    EXPECT_THAT(refusal(result), HasSubstr("2 times"));
    result = right_result(task_of_two());
    result.operators[0].parameters["n"] = 11;
    EXPECT_THAT(refusal(result), HasSubstr("op1(n=11) is not in the task"));
    result = right_result(task_of_two());
    result.operators[0].version = 2;
    EXPECT_THAT(refusal(result), StartsWith("version: "));
    EXPECT_THAT(refusal(result), HasSubstr("the task asks for 1"));
    result = right_result(task_of_two());
    result.operators[0].count = 4;
    EXPECT_THAT(refusal(result), HasSubstr("count"));
    result = right_result(task_of_two());
    result.unit_count = 2;
    EXPECT_THAT(refusal(result), HasSubstr("unit_count"));
}

/// A profiled program may execute by a library call what its own loops are like, too.
TEST(ReadProbeResult, TakesOneSizeTwiceAsOftenAsEachIsAskedFor)
{
    ProbeTask task = task_of_two();
    task.operators.push_back(task.operators[0]);
    task.operators[2].count = 7;
    task.operators[2].remainder = "compute";
    ProbeResult result = right_result(task);

    EXPECT_EQ(refusal(result, task), "");
    std::swap(result.operators[0], result.operators[2]);
    EXPECT_EQ(refusal(result, task), "");
    result.operators[0].count = result.operators[2].count;
    EXPECT_THAT(refusal(result, task), HasSubstr("count"));
}

TEST(ReadProbeResult, TheResultOfAnotherSeedIsThatOfAnotherRun)
{
    ProbeTask task = task_of_two();
    task.seed = 12345;
    ProbeResult result = right_result(task);
    EXPECT_EQ(refusal(result, task), "");
    result.seed = 12344;
    EXPECT_THAT(refusal(result, task), StartsWith("checksum: "));
}

TEST(ReadProbeResult, SamplesFitIntoTheRun)
{
    ProbeResult result = right_result(task_of_two());
    for (OperatorResult& item : result.operators)
        item.executions = {3, 3, 3};
    EXPECT_THAT(refusal(result), HasSubstr("samples took"));
    result.operators[0].executions = {3, 3};
    EXPECT_THAT(refusal(result), HasSubstr("executions"));
}

TEST(ReadProbeResult, TheGravestFaultNamesTheFinding)
{
    ProbeResult result = right_result(task_of_two());
    result.operators[0].median_s = 1e-5;
    result.operators[1].version = 2;
    EXPECT_THAT(refusal(result), StartsWith("version: "));
}

TEST(ReadProbeResult, TakesOneResultForEachPlaceInTheDataFlow)
{
    ProbeTask task = task_of_two();
    task.operators.push_back(task.operators[0]);
    task.operators[0].label = "P1";
    task.operators[2].label = "P2";
    ProbeResult result = right_result(task);
    for (std::size_t i = 0; i < result.operators.size(); ++i)
        result.operators[i].label = task.operators[i].label;

    EXPECT_EQ(refusal(result, task), "");
    result.operators.pop_back();
    EXPECT_THAT(refusal(result, task), HasSubstr("op1(n=10) stands there 1 times, right is 2"));
}

TEST(ReadProbeResult, RefusesFiguresThatDoNotFollow)
{
    ProbeResult result = right_result(task_of_two());
    result.operators[0].median_s = 0.0002; // a thousand times as fast as the samples say
    EXPECT_THAT(refusal(result), HasSubstr("median"));
    result = right_result(task_of_two());
    result.operators[0].one_thread = SampledTimes{{0.2, 0.2, 0.2}, {1, 1, 1}, 0.1, 0.2, 0.2};
    EXPECT_THAT(refusal(result), HasSubstr("operators[0].one_thread.median_s is not the median"));
    result = right_result(task_of_two());
    result.operators[0].operations = 2e9;
    EXPECT_THAT(refusal(result), HasSubstr("formula"));
    result = right_result(task_of_two());
    result.operators[1].tolerance = 1;
    EXPECT_THAT(refusal(result), HasSubstr("manifest"));
    result = right_result(task_of_two());
    result.operators[1].outliers = {3};
    EXPECT_THAT(refusal(result), HasSubstr("outside the samples"));
    result = right_result(task_of_two());
    result.host["cpu"] = std::string("a\0b", 3);
    EXPECT_THAT(refusal(result), HasSubstr("NUL"));
}

} // namespace
} // namespace fathom::server
