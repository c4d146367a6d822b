#include "server/probing/findings/verify_run.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::right_result;
using test::simple_operator;
using testing::HasSubstr;
using Outcome = VerificationOutcome;

/// A network transfer without arithmetic.
OperatorManifest transfer()
{
    OperatorManifest manifest = simple_operator("fetch");
    manifest.category = "network";
    manifest.operation_count = "0";
    return manifest;
}

OperatorLibrary library()
{
    return OperatorLibrary({{simple_operator("op1"), {}, {}}, {simple_operator("op2"), {}, {}}, {transfer(), {}, {}}});
}

ProbeTask task_of(const std::vector<std::string>& ids)
{
    std::vector<OperatorUse> uses;
    for (const std::string& id : ids) {
        OperatorUse use;
        use.id = id;
        uses.push_back(use);
    }
    std::vector<FieldError> errors;
    ProbeTask task;
    task.name = "t";
    task.seed = 77;
    task.operators = library().resolve(uses, "operators", errors);
    return task;
}

TEST(VerificationTask, IsTheSameWorkInFewSamples)
{
    const Result<ProbeTask> task = verification_task(task_of({"op1", "fetch"}), library());

    ASSERT_TRUE(task);
    EXPECT_EQ(task->seed, 77);
    EXPECT_EQ(task->repeats, 1);
    ASSERT_EQ(task->operators.size(), 1U) << "nothing is computed in a transfer";
    EXPECT_EQ(task->operators[0].id, "op1");
}

TEST(VerificationTask, WithoutComputingThereIsNone)
{
    EXPECT_THAT(verification_task(task_of({"fetch"}), library()).error().detail, HasSubstr("nothing is computed"));
}

TEST(VerificationTask, LeavesOutArraysThatTheDatabaseHasNoRoomBeside)
{
    OperatorManifest ruled = simple_operator("op1");
    ruled.cache_rule = CacheRule{.array_bytes = "8*n",
                                 .memory_bytes = "1073741824*n", // n GiB
                                 .least_multiple = 4,
                                 .larger_sizes = {}};
    const OperatorLibrary with_rule({{ruled, {}, {}}, {simple_operator("op2"), {}, {}}});
    ProbeTask task = task_of({"op1", "op2"});

    task.operators[0].parameters["n"] = 2;
    EXPECT_EQ(verification_task(task, with_rule)->operators.size(), 2U);
    task.operators[0].parameters["n"] = 3;
    ASSERT_EQ(verification_task(task, with_rule)->operators.size(), 1U);
    EXPECT_EQ(verification_task(task, with_rule)->operators[0].id, "op2");
}

TEST(CompareResults, RightIsWhatEveryOperatorAgreesOn)
{
    const ProbeTask task = task_of({"op1", "op2"});
    const ProbeResult computed = right_result(task);
    ProbeResult claimed = right_result(task);

    EXPECT_EQ(compare_results(claimed, computed, library()).outcome, Outcome::kRight);
    claimed.operators[1].checksum = "1234";
    const VerificationVerdict verdict = compare_results(claimed, computed, library());
    EXPECT_EQ(verdict.outcome, Outcome::kWrong);
    EXPECT_THAT(verdict.detail, HasSubstr("op2(n=10): checksum 1234, right is 00ff"));
}

TEST(CompareResults, WhatTheMetaschedulerGetsWrongAccusesNobody)
{
    const ProbeTask task = task_of({"op1"});
    ProbeResult computed = right_result(task);
    computed.operators[0].error = 1;
    computed.operators[0].checksum = "other";

    EXPECT_EQ(compare_results(right_result(task), computed, library()).outcome, Outcome::kImpossible);
}

TEST(DifferenceWithinOrder, ComparesOnlyEqualSizes)
{
    const ProbeResult one = right_result(task_of({"op1"}));
    ProbeResult other = one;
    EXPECT_EQ(difference_within_order(one, other), "");
    other.operators[0].checksum = "1234";
    EXPECT_NE(difference_within_order(one, other), "");
    other.operators[0].parameters["n"] = 11;
    EXPECT_EQ(difference_within_order(one, other), "");
}

} // namespace
} // namespace fathom::server
