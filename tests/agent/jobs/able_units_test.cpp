#include "agent/jobs/able_units.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// M8's golden table.
UnitPlan golden_plan()
{
    const auto type = [](const char* name, std::int64_t count, std::vector<std::string> operators) {
        UnitType unit_type;
        unit_type.report.name = name;
        unit_type.report.unit_count = count;
        unit_type.report.operators = std::move(operators);
        for (std::int64_t i = 0; i < count; ++i)
            unit_type.units.push_back({{100 * (name[1] - '0') + i}});
        return unit_type;
    };
    return {type("u1", 10, {"op1", "op3", "op4"}), type("u2", 20, {"op1", "op2", "op3", "op5"}),
            type("u3", 5, {"op1", "op2", "op5"})};
}

std::vector<OperatorNeed> needs(std::initializer_list<const char*> ids)
{
    std::vector<OperatorNeed> list;
    for (const char* id : ids)
        list.push_back({id, false});
    return list;
}

TEST(AbleUnits, TheGoldenTableOfM8)
{
    EXPECT_THAT(able_unit_types(golden_plan(), needs({"op1", "op3"})), ElementsAre("u1", "u2"));
    EXPECT_THAT(able_unit_types(golden_plan(), needs({"op2", "op5"})), ElementsAre("u2", "u3"));
    EXPECT_THAT(able_unit_types(golden_plan(), needs({"op4", "op5"})), IsEmpty());
}

TEST(AbleUnits, AnAnswerNamesEachUnitTypeWithItsFreeUnitsOrTheReason)
{
    UnitAllocator units(golden_plan());
    AttemptOrder order;
    order.attempt_id = AttemptId::make();
    order.unit_type = "u2";
    order.unit_count = 3;
    units.allocate(order).value();

    const link::UnitTypesAnswer answer = answer_query({MessageId::make(), needs({"op2"})}, units);

    ASSERT_EQ(answer.able.size(), 2U);
    EXPECT_EQ(answer.able[0].name, "u2");
    EXPECT_EQ(answer.able[0].unit_count, 20);
    EXPECT_EQ(answer.able[0].free_count, 17);
    EXPECT_EQ(answer.able[1].name, "u3");
    ASSERT_EQ(answer.unable.size(), 1U);
    EXPECT_EQ(answer.unable[0].name, "u1");
    EXPECT_EQ(answer.unable[0].reason, "does not offer op2");
}

TEST(AbleUnits, UploadedOperatorsRunOnlyWhereTheCenterAcceptsThem)
{
    UnitPlan plan = golden_plan();
    plan[2].report.facts["accepts_uploads"] = true;

    EXPECT_THAT(able_unit_types(plan, std::vector<OperatorNeed>{{"mine", true}}), ElementsAre("u3"));
    EXPECT_EQ(why_unable(plan[0].report, std::vector<OperatorNeed>{{"op1", false}, {"mine", true}}),
              "does not offer mine (uploaded)");
}

} // namespace
} // namespace fathom::agent
