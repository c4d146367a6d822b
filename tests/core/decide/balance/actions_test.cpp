#include "core/decide/balance/action_plan.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

BalanceActions actions(int precision_steps, std::int64_t clock_mhz, std::int64_t sub_units)
{
    return {sub_units, clock_mhz, precision_steps};
}

TEST(DefaultActionTable, IsThatOfTheSpecificationWithItsEnds)
{
    const ActionTable& table = default_action_table();
    const auto at = [&](double output) { return look_up_actions(table, output); };

    EXPECT_TRUE(check_action_table(table, "actions").empty());
    EXPECT_EQ(at(-0.9), actions(-2, 300, 4));
    EXPECT_EQ(at(-0.7), actions(-1, 200, 3));
    EXPECT_EQ(at(-0.5), actions(0, 100, 2));
    EXPECT_EQ(at(-0.3), actions(0, 0, 1));
    EXPECT_EQ(at(-0.1), actions(0, 0, 0));
    EXPECT_EQ(at(0), actions(0, 0, 0));
    EXPECT_EQ(at(0.1), actions(0, 0, 0));
    EXPECT_EQ(at(0.100001), actions(0, 0, -1));
    EXPECT_EQ(at(0.3), actions(0, 0, -1));
    EXPECT_EQ(at(0.5), actions(0, -100, -2));
    EXPECT_EQ(at(0.7), actions(1, -200, -3));
    EXPECT_EQ(at(0.9), actions(2, -300, -4));
}

TEST(DefaultActionTable, ComesBackFromItsDocument)
{
    const Json document = to_json(default_action_table());
    EXPECT_EQ(document[0]["u"], "[-0.9, -0.7)");
    EXPECT_EQ(document[8]["u"], "(0.7, 0.9]");
    EXPECT_EQ(parse_action_table(document).value(), default_action_table());
}

std::string faults(const std::string& document)
{
    const Result<ActionTable> table = parse_action_table(Json::parse(document));
    return table ? "" : describe(table.error());
}

TEST(ActionTables, TileTheOutputsOnce)
{
    EXPECT_EQ(faults(R"json([{"u": "[-0.9, 0)", "sub_units": 1}, {"u": "[0, 0.9]", "sub_units": -1}])json"), "");
    EXPECT_EQ(faults(R"json([{"u": "[-0.9, 0)"}, {"u": "[0, 0]"}, {"u": "(0, 0.9]"}])json"), "");
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, 0)"}, {"u": "(0, 0.9]"}])json"),
                HasSubstr("gap: nothing covers the output 0"));
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, 0]"}, {"u": "[0, 0.9]"}])json"),
                HasSubstr("overlap: the output 0 is covered twice"));
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, -0.1]"}, {"u": "[0.1, 0.9]"}])json"),
                HasSubstr("gap: nothing covers the outputs from -0.1 to 0.1"));
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, 0.2]"}, {"u": "(0.1, 0.9]"}])json"), HasSubstr("overlap"));
    EXPECT_THAT(faults(R"json([{"u": "(-0.9, 0.9]"}])json"), HasSubstr("must begin with [-0.9"));
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, 0.8]"}])json"), HasSubstr("must end with 0.9]"));
}

TEST(ActionTables, NameWhatIsWrongInARow)
{
    EXPECT_THAT(faults("[]"), HasSubstr("must be a list"));
    EXPECT_THAT(faults("[1]"), HasSubstr("must be an object"));
    EXPECT_THAT(faults(R"json([{"u": "-0.9..0.9"}])json"), HasSubstr("must be an interval"));
    EXPECT_THAT(faults(R"json([{"u": "[0.9, -0.9]"}])json"), HasSubstr("nothing lies"));
    EXPECT_THAT(faults(R"json([{"u": "[-0.9, 0.9]", "clock": 1}])json"), HasSubstr("clock"));
}

TEST(PrecisionLadder, GoesFromInt4ToFp64WithinTheRangeOfTheApplication)
{
    const PrecisionRange all;
    EXPECT_EQ(step_precision(Precision::kInt4, 1, all), Precision::kInt8);
    EXPECT_EQ(step_precision(Precision::kInt8, 1, all), Precision::kFp16);
    EXPECT_EQ(step_precision(Precision::kFp16, 1, all), Precision::kFp32);
    EXPECT_EQ(step_precision(Precision::kFp32, 1, all), Precision::kFp64);
    EXPECT_EQ(step_precision(Precision::kFp64, 2, all), Precision::kFp64);
    EXPECT_EQ(step_precision(Precision::kFp32, -2, {Precision::kFp16, Precision::kFp32}), Precision::kFp16);
    EXPECT_EQ(step_precision(Precision::kFp64, 0, {Precision::kFp16, Precision::kFp32}), Precision::kFp32);
}

TEST(PrecisionRanges, AreReadAsTheyAreWritten)
{
    const PrecisionRange range = parse_precision_range("int8..fp32").value();
    EXPECT_EQ(to_string(range), "int8..fp32");
    EXPECT_EQ(to_string(parse_precision_range("fp16").value()), "fp16..fp16");
    EXPECT_FALSE(parse_precision_range("fp32..int8"));
    EXPECT_FALSE(parse_precision_range("int8..bf16"));
    EXPECT_FALSE(parse_precision_range(""));
}

UnitPosition position(std::int64_t count, std::int64_t mhz = 1000)
{
    return {.sub_units = SubUnitPosition{.count = count, .least = 1, .most = 1000},
            .clock = ClockPosition{mhz, 500, 1500},
            .precision = PrecisionPosition{Precision::kFp16, {Precision::kInt8, Precision::kFp32}}};
}

TEST(ActionPlan, DoesAllThatIsWantedWhereThereIsRoom)
{
    EXPECT_EQ(plan_actions(actions(-1, 200, 3), position(100), {}, 10), actions(-1, 200, 3));
}

TEST(ActionPlan, StopsWhereTheUnitIsBalanced)
{
    EXPECT_EQ(plan_actions(actions(0, 100, 4), position(10), {}, 1.2), actions(0, 0, 2)) << "12 are what it needs";
    EXPECT_EQ(plan_actions(actions(0, 300, 1), position(10), {}, 1.21), actions(0, 100, 1))
        << "after one more sub-unit a tenth is left for the clock";
    EXPECT_EQ(plan_actions(actions(-2, 0, 0), position(10), {}, 1.5), actions(0, 0, 0))
        << "a step of precision would double the capacity";
    EXPECT_EQ(plan_actions(actions(-2, 0, 0), position(10), {}, 2), actions(-1, 0, 0));
    EXPECT_EQ(plan_actions(actions(1, 0, 0), position(10), {}, 0.5), actions(1, 0, 0));
    EXPECT_EQ(plan_actions(actions(0, 0, -4), position(10), {}, 0.9), actions(0, 0, -1));
    PlanRules rules;
    rules.stops_at_balance = false;
    EXPECT_EQ(plan_actions(actions(0, 0, -4), position(10), rules, 0.9), actions(0, 0, -4));
}

TEST(ActionPlan, GivesUpNoPartThatBalanceNeeds)
{
    EXPECT_EQ(plan_actions(actions(0, 0, -4), position(5), {}, 0.27), actions(0, 0, -3)) << "1.35 are needed";
    EXPECT_EQ(plan_actions(actions(0, 0, -100), position(100), {}, 0.5), actions(0, 0, -50));
    EXPECT_EQ(plan_actions(actions(0, 0, -100), position(100), {}, 0.07), actions(0, 0, -93))
        << "100 times 0.07 is 7.000000000000001";
}

TEST(ActionPlan, GivesAFinerPrecisionBackWhereTheUnitLacksCapacity)
{
    UnitPosition before = position(10); // which is at fp16 now
    before.precision->precision = Precision::kInt8;
    EXPECT_EQ(plan_actions(actions(-2, 0, 0), position(10), {}, 1.5, before), actions(-1, 0, 0));
    EXPECT_EQ(plan_actions(actions(-2, 0, 0), position(10), {}, 1.1, before), actions(0, 0, 0));
    EXPECT_EQ(plan_actions(actions(-2, 0, 4), position(10), {}, 1.4, before), actions(0, 0, 4))
        << "sub-units are enough";
    EXPECT_EQ(plan_actions(actions(-2, 0, 0), position(10), {}, 1.5, position(10)), actions(0, 0, 0));
}

TEST(ActionPlan, LowersTheClockOnlyWhereSomethingIsSaturated)
{
    const UnitPosition at = position(10);
    EXPECT_EQ(allowed_actions(actions(1, -200, -3), at, {0.6, 0.2}, {}), actions(1, 0, -3))
        << "the work would slow down";
    EXPECT_EQ(allowed_actions(actions(1, -40, -3), at, {0.95, 0.5}, {}), actions(1, -40, -3));
    EXPECT_EQ(allowed_actions(actions(0, 200, 3), at, {0.2, 0.6}, {}), actions(0, 200, 3));
    PlanRules rules;
    rules.keeps_work = false;
    EXPECT_EQ(allowed_actions(actions(1, -200, -3), at, {0.6, 0.2}, rules), actions(1, -200, -3));
}

TEST(ActionPlan, LowersTheClockNoFurtherThanWhatIsSaturatedMayFallWithIt)
{
    EXPECT_EQ(allowed_actions(actions(1, -200, -3), position(10), {1, 0.5}, {}), actions(1, -100, -3))
        << "at 900 of 1000 MHz the link is at 0.9 at least";
    EXPECT_EQ(allowed_actions(actions(1, -200, -3), position(10), {0.9, 0.5}, {}), actions(1, 0, -3));
}

TEST(ActionPlan, GivesTheClockBackWhereNothingIsSaturated)
{
    const UnitPosition before = position(10, 1000);
    EXPECT_EQ(clock_to_give_back(position(10, 700), before, {0.7, 0.6}, {}, 0, 0), 300);
    EXPECT_EQ(clock_to_give_back(position(10, 700), before, {0.9, 0.6}, {}, 0, 0), 0) << "the link is";
    EXPECT_EQ(clock_to_give_back(position(10, 700), before, {0.6, 0.9}, {}, 0, 0), 0) << "the unit is";
    EXPECT_EQ(clock_to_give_back(position(10, 700), before, {0.7, 0.6}, {}, 0, 0.2), 0) << "it could be noise";
    EXPECT_EQ(clock_to_give_back(position(10, 1100), before, {0.7, 0.6}, {}, 0, 0), 0) << "nothing was taken";
    EXPECT_EQ(clock_to_give_back({}, before, {0.7, 0.6}, {}, 0, 0), 0);
    PlanRules rules;
    rules.keeps_work = false;
    EXPECT_EQ(clock_to_give_back(position(10, 700), before, {0.7, 0.6}, rules, 1, 0), 0);
}

TEST(ActionPlan, GivesTheClockBackThatTheLinkWentAlongWith)
{
    // A tenth less: half of it is 0.95 of what the link was at.
    const UnitPosition before = position(10, 1000);
    EXPECT_EQ(clock_to_give_back(position(10, 900), before, {0.90, 0.9}, {}, 1, 0), 100);
    EXPECT_EQ(clock_to_give_back(position(10, 900), before, {0.96, 0.9}, {}, 1, 0), 0) << "saturated at either clock";
    EXPECT_EQ(clock_to_give_back(position(10, 900), before, {0.90, 0.9}, {}, 1, 0.06), 0) << "it could be noise";
    EXPECT_EQ(clock_to_give_back(position(10, 900), before, {0.90, 0.9}, {}, 0.93, 0), 0)
        << "it was little more before";
}

UnitPosition sub_units_only(std::int64_t count)
{
    return {.sub_units = SubUnitPosition{.count = count, .least = 1, .most = 1000}};
}

TEST(ActionPlan, GivesSubUnitsBackAtOnceAsFarAsBalanceNeeds)
{
    const BalanceActions four{.sub_units = 4, .clock_mhz = 0, .precision_steps = 0};
    const auto planned = [&](double capacity, std::int64_t before) {
        return plan_actions(four, sub_units_only(10), {}, capacity, sub_units_only(before)).sub_units;
    };
    EXPECT_EQ(planned(3, 40), 20);
    EXPECT_EQ(planned(3, 25), 15) << "no more than there were";
    EXPECT_EQ(planned(3, 10), 4) << "what is new comes by the table";
}

TEST(ActionPlan, GivesASubUnitBackWhereHalfOfOneIsLacking)
{
    const BalanceActions two{.sub_units = 2, .clock_mhz = 0, .precision_steps = 0};
    const auto planned = [&](double capacity, std::int64_t before) {
        return plan_actions(two, sub_units_only(1), {}, capacity, sub_units_only(before)).sub_units;
    };
    EXPECT_EQ(planned(1.4, 3), 1) << "0.4 of one is none by rounding, and the unit lacks two sevenths";
    EXPECT_EQ(planned(1.4, 1), 0) << "none was given up";
    EXPECT_EQ(planned(1.1, 3), 0) << "it lacks little";
    PlanRules clock_only;
    clock_only.actuators = {ActuatorKind::kClock};
    EXPECT_EQ(plan_actions(two, sub_units_only(1), clock_only, 1.4, sub_units_only(3)).sub_units, 0);
}

TEST(ActionPlan, KeepsToTheLimitsOfEachActuator)
{
    EXPECT_EQ(plan_actions(actions(0, 0, -4), position(2), {}, std::nullopt), actions(0, 0, -1));
    EXPECT_EQ(plan_actions(actions(0, 300, 0), position(2, 1400), {}, std::nullopt), actions(0, 100, 0));
    EXPECT_EQ(plan_actions(actions(2, 0, 0), position(2), {}, std::nullopt), actions(1, 0, 0)) << "fp32 is the most";
}

TEST(ActionPlan, GoesOnWithoutActuatorsThatAreNotThere)
{
    UnitPosition without = position(10);
    without.sub_units.reset();
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), without, {}, 4), actions(-1, 300, 0));
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), {}, {}, 4), actions(0, 0, 0));
}

TEST(ActionPlan, UsesTheFirstOrAllInTheGivenOrder)
{
    PlanRules rules;
    rules.use = ActuatorUse::kFirst;
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), position(10), rules, 4), actions(0, 0, 4));
    rules.actuators = {ActuatorKind::kClock, ActuatorKind::kSubUnits};
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), position(10), rules, 4), actions(0, 300, 0));
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), position(10, 1500), rules, 4), actions(0, 0, 4))
        << "the clock can go no higher";
    rules.use = ActuatorUse::kTogether;
    EXPECT_EQ(plan_actions(actions(-1, 300, 4), position(10), rules, 4), actions(0, 300, 4));
}

TEST(WantedSubUnits, AreCountTimesLoadOverTransfer)
{
    EXPECT_EQ(wanted_sub_units(100, {1, 0.5}), 50);
    EXPECT_EQ(wanted_sub_units(100, {0.5, 1}), 200);
    EXPECT_EQ(wanted_sub_units(3, {1, 0.01}), 1);
    EXPECT_EQ(wanted_sub_units(5, {1, 0.27}), 2) << "1.35 are needed";
    EXPECT_EQ(wanted_sub_units(100, {1, 0.07}), 7) << "100 times 0.07 is 7.000000000000001";
    EXPECT_EQ(wanted_sub_units(5, {0.7, 1}), 7);
    EXPECT_FALSE(wanted_sub_units(3, {0, 1}));
    EXPECT_EQ(wanted_sub_units(10, {3e-8, 1}), 1'000'000) << "no more than a broker may be asked for";
}

TEST(UnitPositions, MoveAsActionsSay)
{
    const UnitPosition after = moved(position(10), actions(-1, 100, 2));
    EXPECT_EQ(after.sub_units->count, 12);
    EXPECT_EQ(after.clock->mhz, 1100);
    EXPECT_EQ(after.precision->precision, Precision::kInt8);
}

} // namespace
} // namespace fathom
