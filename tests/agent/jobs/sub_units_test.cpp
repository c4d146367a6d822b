#include "agent/app/shared_sub_units.hpp"
#include "agent/app/sub_unit_keeper.hpp"
#include "agent/app/sub_unit_request.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using testing::HasSubstr;

SubUnitRule vgpu_rule(std::int64_t total = 100)
{
    return {.kind = "vgpu", .unit_type = "part", .total = total};
}

Catalog machine(std::int64_t units)
{
    Catalog catalog;
    catalog.unit_types.resize(2);
    catalog.unit_types[0].name = "core";
    catalog.unit_types[0].unit_count = 4;
    catalog.unit_types[1].name = "part";
    catalog.unit_types[1].unit_count = units;
    return catalog;
}

bool nothing_is_held(const std::string&, std::int64_t)
{
    return false;
}

/// Reaches the target at once.
void reach(SubUnits& sub_units, std::int64_t version, std::int64_t held, std::int64_t offered)
{
    sub_units.take({"vgpu", version, held, offered});
    sub_units.done(sub_units.next(nothing_is_held).value());
}

std::int64_t offered_parts(const SubUnits& sub_units)
{
    for (const UnitTypeReport& report : sub_units.limited(machine(200)).unit_types) {
        if (report.name == "part") return report.unit_count;
    }
    return 0;
}

TEST(SubUnits, AreNobodysUntilTheMetaschedulerHasSpoken)
{
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    sub_units.note_machine(machine(200));

    EXPECT_EQ(offered_parts(sub_units), 0);
    EXPECT_EQ(sub_units.limits().at("part"), 0);
    EXPECT_EQ(sub_units.limited(machine(200)).unit_types.size(), 1U) << "a type without units is left out";
    EXPECT_EQ(sub_units.state().holdings.at(0).registered_count, 100);
    EXPECT_EQ(sub_units.state().holdings.at(0).most_count, 200);

    reach(sub_units, 1, 100, 100);
    EXPECT_EQ(offered_parts(sub_units), 100);
    EXPECT_EQ(sub_units.limited(machine(200)).unit_types.at(1).facts.at("sub_units"), "vgpu");
    EXPECT_EQ(sub_units.state().holdings.at(0).version, 1);
}

TEST(SubUnits, AreGivenUpOnlyWhenNoAttemptHoldsThem)
{
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    reach(sub_units, 1, 100, 100);
    reach(sub_units, 2, 100, 50);
    EXPECT_EQ(offered_parts(sub_units), 50);
    EXPECT_EQ(sub_units.limits().at("part"), 100) << "orders that are on their way may have them";

    sub_units.take({"vgpu", 3, 50, 50});
    EXPECT_EQ(sub_units.limits().at("part"), 50) << "none of the others are given any more";
    std::int64_t asked_from = 0;
    const auto are_held = [&](const std::string& type, std::int64_t first) {
        asked_from = first;
        return type == "part";
    };
    EXPECT_FALSE(sub_units.next(are_held));
    EXPECT_EQ(asked_from, 50);

    const std::optional<SubUnitChange> change = sub_units.next(nothing_is_held);
    ASSERT_TRUE(change);
    EXPECT_TRUE(change->moves);
    EXPECT_FALSE(sub_units.next(nothing_is_held)) << "one at a time";
    sub_units.done(*change);
    EXPECT_EQ(sub_units.state().holdings.at(0).held_count, 50);
}

TEST(SubUnits, TakeOldTargetsAndRepeatsForNothing)
{
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    reach(sub_units, 5, 100, 100);

    sub_units.take({"vgpu", 5, 10, 10});
    sub_units.take({"vgpu", 4, 10, 10});
    sub_units.take({"mig", 9, 10, 10});

    EXPECT_FALSE(sub_units.next(nothing_is_held));
    EXPECT_EQ(offered_parts(sub_units), 100);
}

TEST(SubUnits, RefuseATargetOnceAndTryTheNext)
{
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    reach(sub_units, 1, 100, 100);
    sub_units.take({"vgpu", 2, 150, 150});
    sub_units.refuse(sub_units.next(nothing_is_held).value(), "no slot");

    EXPECT_FALSE(sub_units.next(nothing_is_held));
    EXPECT_EQ(sub_units.state().holdings.at(0).refused_version, 2);
    EXPECT_EQ(sub_units.state().holdings.at(0).refusal, "no slot");
    EXPECT_EQ(sub_units.state().holdings.at(0).version, 1);

    sub_units.take({"vgpu", 3, 100, 100});
    const SubUnitChange back = sub_units.next(nothing_is_held).value();
    EXPECT_TRUE(back.moves) << "what the failed program has done is not known";
    sub_units.done(back, PartsPlace::kUnsure);
    sub_units.take({"vgpu", 4, 100, 90});
    const SubUnitChange once_more = sub_units.next(nothing_is_held).value();
    EXPECT_TRUE(once_more.moves) << "and still is not";
    sub_units.done(once_more);
    sub_units.take({"vgpu", 5, 100, 100});
    EXPECT_FALSE(sub_units.next(nothing_is_held).value().moves);
    EXPECT_EQ(sub_units.state().holdings.at(0).refused_version, 0);
}

TEST(SubUnits, SurviveACrashAtAnyStep)
{
    SubUnits before = SubUnits::make({vgpu_rule()}, "").value();
    reach(before, 1, 100, 100);
    before.take({"vgpu", 2, 50, 50});

    SubUnits after = SubUnits::make({vgpu_rule()}, before.stored()).value();
    EXPECT_EQ(after.limits().at("part"), 50) << "the program may have run";
    EXPECT_EQ(after.state().holdings.at(0).held_count, 100) << "or not";
    after.done(after.next(nothing_is_held).value());

    EXPECT_EQ(SubUnits::make({vgpu_rule()}, after.stored()).value().state().holdings.at(0).held_count, 50);
    EXPECT_FALSE(SubUnits::make({vgpu_rule()}, "nonsense"));
    EXPECT_FALSE(SubUnits::make({vgpu_rule()}, R"({"vgpu": {"version": -1}})"));
}

TEST(SubUnits, ThatAreSharedStayInTheSettings)
{
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    EXPECT_TRUE(sub_units.replace_rules({})) << "nothing has happened yet";
    ASSERT_TRUE(sub_units.replace_rules({vgpu_rule()}));
    reach(sub_units, 1, 100, 100);

    const Result<void> refused = sub_units.replace_rules({});

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail, HasSubstr("vgpu"));
    EXPECT_TRUE(sub_units.replace_rules({vgpu_rule(80)}));
    EXPECT_EQ(sub_units.state().holdings.at(0).registered_count, 80);
}

TEST(SubUnits, MakeWholeUnitsOnly)
{
    SubUnitRule rule = vgpu_rule();
    rule.sub_units_per_unit = 4;
    SubUnits sub_units = SubUnits::make({rule}, "").value();
    sub_units.note_machine(machine(10));
    reach(sub_units, 1, 15, 14);

    EXPECT_EQ(offered_parts(sub_units), 3);
    EXPECT_EQ(sub_units.limits().at("part"), 3);
    EXPECT_EQ(sub_units.state().holdings.at(0).most_count, 100) << "the total, which is more than 10 units of 4";
}

AttemptOrder order_of_cores(std::int64_t count)
{
    AttemptOrder order = test::order({"true"});
    order.unit_count = count;
    return order;
}

TEST(SubUnitLimit, KeepsUnitsFromBeingGiven)
{
    UnitAllocator units(test::core_plan(3));
    const AttemptOrder first = order_of_cores(2);
    ASSERT_TRUE(units.allocate(first));
    EXPECT_TRUE(units.holds_beyond("core", 1));
    EXPECT_FALSE(units.holds_beyond("core", 2));
    EXPECT_FALSE(units.holds_beyond("core", 3));

    units.limit_units({{"core", 2}});
    EXPECT_EQ(units.free_count(units.plan()[0]), 0);
    EXPECT_EQ(units.allocate(order_of_cores(1)).error().code, Errc::kTooMany);
    units.release(first.attempt_id);
    EXPECT_EQ(units.free_count(units.plan()[0]), 2);
    EXPECT_EQ(units.allocate(order_of_cores(3)).error().code, Errc::kTooMany) << "its sub-units may come back";
    EXPECT_EQ(units.allocate(order_of_cores(4)).error().code, Errc::kInfeasible);

    units.limit_units({{"core", 0}});
    const link::UnitTypesAnswer answer = answer_query({MessageId::make(), {}}, units);
    EXPECT_TRUE(answer.able.empty());
    EXPECT_THAT(answer.unable.at(0).reason, HasSubstr("at other centers"));
}

TEST(SubUnitTables, AreReadWithEveryErrorInItsPlace)
{
    const AgentTables tables = parse_agent_tables(R"(
        [[unit_type]]
        name = "part"
        [[sub_units]]
        kind = "cpu-quota"
        unit_type = "part"
        sub_units_per_unit = 2
        total = 4
        most = 8
        change_program = "/usr/local/sbin/move-quotas"
        change_limit_s = 30
    )")
                                   .value();
    const SubUnitRule expected{.kind = "cpu-quota",
                               .unit_type = "part",
                               .sub_units_per_unit = 2,
                               .total = 4,
                               .most = 8,
                               .change_program = "/usr/local/sbin/move-quotas",
                               .change_limit = std::chrono::seconds(30)};
    EXPECT_EQ(tables.sub_units, std::vector{expected});

    const Result<AgentTables> wrong = parse_agent_tables(R"(
        [[sub_units]]
        kind = "a"
        unit_type = "none"
        total = 4
        most = 3
        change_program = "here"
        [[sub_units]]
        kind = "a"
        unit_type = "core"
    )");
    ASSERT_FALSE(wrong);
    std::vector<std::string> fields;
    for (const FieldError& error : wrong.error().fields)
        fields.push_back(error.field);
    EXPECT_THAT(fields, testing::UnorderedElementsAre("sub_units[0].unit_type", "sub_units[0].most",
                                                      "sub_units[0].change_program", "sub_units[1].total",
                                                      "sub_units[1].kind"));
}

/// What a balanced unit's process has of them, in a folder of its own.
class SharedSubUnitsTest : public testing::Test {
  protected:
    SharedSubUnits open() const
    {
        return {OpenFile(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                ::geteuid(),
                ::getegid(),
                {vgpu_rule()}};
    }

    test::TemporaryFolder folder_;
};

TEST_F(SharedSubUnitsTest, TellABalancedUnitWhatItsCenterHas)
{
    SharedSubUnits shared = open();
    EXPECT_EQ(shared.held("part").error().code, Errc::kUnavailable) << "the metascheduler has not spoken";
    SubUnits sub_units = SubUnits::make({vgpu_rule()}, "").value();
    reach(sub_units, 1, 70, 70);
    write_file(folder_.path() / "sub-units.json", sub_units.stored()).value();

    EXPECT_EQ(shared.held("part").value(), 70);
    EXPECT_EQ(shared.held("core").error().code, Errc::kUnavailable);
}

TEST_F(SharedSubUnitsTest, AskForWhatTheLoadsWantOrElseForTheChange)
{
    SharedSubUnits shared = open();
    const SubUnitRequestFile file(folder_.path());
    const auto asked = [&] {
        const link::SubUnitRequest request = file.find().value().value();
        return request.action + " " + std::to_string(request.count);
    };

    shared.ask({.unit = "part", .held = 100, .change = 4, .wanted = 200}).value();
    EXPECT_EQ(asked(), "gain 100");
    shared.ask({.unit = "part", .held = 100, .change = -4, .wanted = 50}).value();
    EXPECT_EQ(asked(), "release 50") << "the newest counts";
    shared.ask({.unit = "part", .held = 3, .change = -4, .wanted = 3}).value();
    EXPECT_EQ(asked(), "release 3") << "all that it has";
    file.remove();
    shared.ask({.unit = "part", .held = 0, .change = -1, .wanted = 0}).value();
    EXPECT_EQ(asked(), "keep 0") << "what it asked for before is withdrawn";
    EXPECT_EQ(shared.ask({.unit = "core", .held = 1, .change = 1, .wanted = 2}).error().code, Errc::kUnavailable);
}

TEST(SubUnitRequestFile, PassesARequestOnOnce)
{
    const test::TemporaryFolder folder;
    const SubUnitRequestFile file(folder.path());
    EXPECT_FALSE(file.find());

    file.leave({"vgpu", "release", 50, "link\nbusy"}).value();
    const link::SubUnitRequest found = file.find().value().value();
    EXPECT_EQ(found.kind + " " + found.action + " " + std::to_string(found.count), "vgpu release 50");
    EXPECT_EQ(found.reason, "linkbusy");
    file.remove();
    EXPECT_FALSE(file.find());

    write_file(folder.path() / "sub-unit-request", "nonsense").value();
    EXPECT_FALSE(*file.find()) << "is no request";
}

} // namespace
} // namespace fathom::agent
