#include "tests/server/sub_units/broker_house.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::BrokerHouse;
using testing::HasSubstr;

TEST(SubUnitBroker, GivesTheGoldenScenariosFiftyOfTheHundredAskedFor)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 100);
    const CenterId two = house.add("II", 100);

    const SubUnitRequestRecord gain = house.ask("II", "gain", 100).value();
    const SubUnitRequestRecord release = house.ask("I", "release", 50).value();
    house.settle();

    EXPECT_EQ(house.held(one), 50);
    EXPECT_EQ(house.held(two), 150);
    EXPECT_EQ(house.request(release.id).state, "done");
    EXPECT_EQ(house.request(gain.id).granted_count, 50);
    EXPECT_EQ(house.request(gain.id).state, "waiting") << "for the other 50";
    EXPECT_EQ(house.missing(), 0);
}

TEST(SubUnitBroker, TurnsLoadsIntoARequest)
{
    BrokerHouse house;
    house.add("I", 100);
    house.add("II", 100);
    const auto balance = [&](const std::string& center, double transfer, double compute) {
        SubUnitsService::Wanted wanted;
        wanted.center = center;
        wanted.kind = "vgpu";
        wanted.action = "balance";
        wanted.transfer_load = transfer;
        wanted.compute_load = compute;
        return house.io.run(house.service.ask(house.admin, std::move(wanted)));
    };

    const SubUnitRequestRecord gain = balance("II", 0.5, 1).value();
    const SubUnitRequestRecord release = balance("I", 1, 0.5).value();

    EXPECT_EQ(gain.action + " " + std::to_string(gain.count), "gain 100");
    EXPECT_EQ(release.action + " " + std::to_string(release.count), "release 50");
    house.settle();
    EXPECT_EQ(balance("I", 0.5, 0.5).error().code, Errc::kConflict) << "just what it wants";
    EXPECT_EQ(balance("I", 0, 0.5).error().code, Errc::kInvalid);
}

TEST(SubUnitBroker, GrantsOnlyWhatTheGivingCenterHasConfirmed)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    const CenterId two = house.add("II", 0);
    house.ask("II", "gain", 4).value();
    const SubUnitRequestRecord release = house.ask("I", "release", 4).value();

    EXPECT_EQ(release.state, "draining");
    EXPECT_EQ(house.target(one).held_count, 10);
    EXPECT_EQ(house.target(one).offered_count, 6);
    house.follow(one);
    EXPECT_EQ(house.request(release.id).state, "giving");
    EXPECT_EQ(house.target(one).held_count, 6);
    EXPECT_EQ(house.held(one), 10) << "it may still use them";
    EXPECT_EQ(house.target(two).held_count, 0);
    house.follow(one);

    EXPECT_EQ(house.held(one), 6);
    EXPECT_EQ(house.target(two).held_count, 4);
    EXPECT_EQ(house.grants().at(0).state, "moving");
    house.follow(two);
    EXPECT_EQ(house.grants().at(0).state, "granted");
}

TEST(SubUnitBroker, WaitsForJobsThatUseWhatIsToBeGivenUp)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    house.run_job(one, 7);
    const SubUnitRequestRecord release = house.ask("I", "release", 4).value();

    house.settle();
    EXPECT_EQ(house.request(release.id).state, "draining");
    EXPECT_EQ(house.held(one), 10);
    house.end_jobs();
    house.run_job(one, 6);
    house.settle();

    EXPECT_EQ(house.request(release.id).state, "done");
    EXPECT_EQ(house.free_count(), 4);
}

TEST(SubUnitBroker, SharesWhatIsFreedEquallyAndQueuesTheRest)
{
    BrokerHouse house;
    house.add("giver", 30);
    const CenterId much = house.add("much", 0);
    const CenterId little = house.add("little", 0);
    const CenterId late = house.add("late", 0);
    house.ask("much", "gain", 100).value();
    house.ask("little", "gain", 2).value();
    house.ask("late", "gain", 100).value();

    house.ask("giver", "release", 9).value();
    house.settle();
    EXPECT_EQ(house.held(much), 4) << "what does not divide is for whom asked first";
    EXPECT_EQ(house.held(little), 2);
    EXPECT_EQ(house.held(late), 3);

    house.ask("giver", "release", 21).value();
    house.settle();
    EXPECT_EQ(house.held(much) + house.held(late), 28);
    EXPECT_EQ(house.missing(), 0);
}

TEST(SubUnitBroker, TakesAMessageThatComesTwiceOnce)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    const MessageId message = MessageId::make();
    const link::SubUnitRequest request{"vgpu", "release", 4, "link busy"};

    ASSERT_TRUE(house.io.run(house.service.take_request(Reporter(one), message, request)));
    house.settle();
    ASSERT_TRUE(house.io.run(house.service.take_request(Reporter(one), message, request)));
    house.settle();
    house.repeat(one);

    EXPECT_EQ(house.held(one), 6);
    EXPECT_EQ(house.store.sql("SELECT count(*) FROM sub_unit_request"), "1");
    EXPECT_EQ(house.store.sql("SELECT asked_by FROM sub_unit_request"), one.value);
    EXPECT_EQ(house.store.sql("SELECT count(*) FROM audit_log"), "0") << "no person did it";
}

TEST(SubUnitBroker, ReplacesWhatAnAgentHasAskedForBefore)
{
    BrokerHouse house;
    house.add("I", 10);
    const CenterId two = house.add("II", 10);
    const auto asks = [&](const std::string& action, std::int64_t count) {
        const link::SubUnitRequest request{"vgpu", action, count, ""};
        return house.io.run(house.service.take_request(Reporter(two), MessageId::make(), request)).has_value();
    };

    EXPECT_TRUE(asks("gain", 8));
    EXPECT_TRUE(asks("gain", 8)) << "the same once more";
    EXPECT_EQ(house.store.sql("SELECT count(*) FROM sub_unit_request"), "1");
    house.ask("I", "release", 3).value();
    house.settle();
    EXPECT_TRUE(asks("gain", 5)) << "what is missing of it";
    EXPECT_EQ(house.store.sql("SELECT count(*) FROM sub_unit_request WHERE action = 'gain'"), "1");
    EXPECT_TRUE(asks("release", 2));
    EXPECT_EQ(house.store.sql("SELECT string_agg(state, ' ' ORDER BY turn) FROM sub_unit_request"),
              "cancelled done draining");
    house.follow(two);
    EXPECT_FALSE(asks("gain", 1)) << "it is giving some up";
    house.settle();
    EXPECT_EQ(house.held(two), 11);
    EXPECT_EQ(house.missing(), 0);
}

TEST(SubUnitBroker, LeavesALostCenterWhatItHasAndGrantsItNothing)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    const CenterId two = house.add("II", 10);
    house.ask("II", "gain", 5).value();
    const SubUnitRequestRecord release = house.ask("I", "release", 5).value();
    house.follow(one);
    house.store.sql("UPDATE center SET state = 'lost'");
    house.look();

    EXPECT_EQ(house.request(release.id).state, "giving");
    EXPECT_EQ(house.held(one), 10) << "it may still use all of them";

    house.store.sql("UPDATE center SET state = 'online' WHERE name = 'I'");
    house.follow(one);
    house.look();
    EXPECT_EQ(house.free_count(), 5);
    EXPECT_EQ(house.held(two), 10) << "nobody hears it";

    house.store.sql("UPDATE center SET state = 'online'");
    house.settle();
    EXPECT_EQ(house.held(two), 15);
}

TEST(SubUnitBroker, LeavesAllAsItWasWhenTheGivingCenterRefuses)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    const SubUnitRequestRecord release = house.ask("I", "release", 4).value();
    house.follow(one);
    house.refuse(one, "the driver is busy");
    house.settle();

    EXPECT_EQ(house.request(release.id).state, "refused");
    EXPECT_EQ(house.request(release.id).end_reason, "the driver is busy");
    EXPECT_EQ(house.held(one), 10);
    EXPECT_EQ(house.target(one).offered_count, 10);
    EXPECT_EQ(house.free_count(), 0);
}

TEST(SubUnitBroker, FreesAgainWhatTheGainingCenterRefuses)
{
    BrokerHouse house;
    house.add("I", 10);
    const CenterId two = house.add("II", 0);
    const CenterId three = house.add("III", 0);
    const SubUnitRequestRecord gain = house.ask("II", "gain", 4).value();
    house.ask("I", "release", 4).value();
    while (house.grants().empty())
        house.follow({house.store.sql("SELECT id FROM center WHERE name = 'I'")});

    house.refuse(two, "no free slot");
    EXPECT_EQ(house.request(gain.id).state, "refused");
    EXPECT_EQ(house.grants().at(0).state, "refused");
    EXPECT_EQ(house.free_count(), 4);
    house.ask("III", "gain", 4).value();
    house.settle();

    EXPECT_EQ(house.held(two), 0);
    EXPECT_EQ(house.held(three), 4);
    EXPECT_EQ(house.missing(), 0);
}

TEST(SubUnitBroker, RefusesWhatCannotBe)
{
    BrokerHouse house;
    house.add("I", 10, 12);
    house.add("II", 10, 20);

    EXPECT_EQ(house.ask("nowhere", "gain", 1).error().code, Errc::kInvalid);
    EXPECT_EQ(house.ask("I", "release", 11).error().code, Errc::kConflict);
    EXPECT_EQ(house.ask("I", "gain", 3).error().code, Errc::kInfeasible);
    ASSERT_TRUE(house.ask("I", "gain", 1));
    const Result<SubUnitRequestRecord> second = house.ask("I", "release", 1);
    EXPECT_EQ(second.error().code, Errc::kConflict);
    EXPECT_THAT(second.error().detail, HasSubstr("sur_")) << "it names the open one";
    const link::SubUnitRequest unknown{"mig", "gain", 1, ""};
    EXPECT_EQ(
        house.io.run(house.service.take_request(Reporter(CenterId::make()), MessageId::make(), unknown)).error().code,
        Errc::kInvalid);
}

TEST(SubUnitBroker, ListensToTheNewestSessionOnly)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    house.store.sql("UPDATE center SET session_epoch = 2");
    const link::SubUnitRequest request{"vgpu", "release", 1, ""};

    EXPECT_EQ(house.io.run(house.service.take_request(Reporter(one, 1), MessageId::make(), request)).error().code,
              Errc::kUnavailable);
    EXPECT_EQ(house.io.run(house.service.take_state(Reporter(one, 1), {})).error().code, Errc::kUnavailable);
    EXPECT_EQ(house.io.run(house.service.targets(Reporter(one, 1))).error().code, Errc::kUnavailable);
    EXPECT_TRUE(house.io.run(house.service.take_request(Reporter(one, 2), MessageId::make(), request)));
}

TEST(SubUnitBroker, CallsOpenRequestsOffButNotWhatIsBeingGivenUp)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    const SubUnitRequestRecord drained = house.ask("I", "release", 4).value();
    EXPECT_EQ(house.io.run(house.service.cancel(house.admin, drained.id.value)).value().state, "cancelled");
    EXPECT_EQ(house.io.run(house.service.cancel(house.admin, drained.id.value)).value().state, "cancelled");
    house.settle();
    EXPECT_EQ(house.target(one).offered_count, 10);

    const SubUnitRequestRecord given = house.ask("I", "release", 4).value();
    house.follow(one);
    EXPECT_EQ(house.io.run(house.service.cancel(house.admin, given.id.value)).error().code, Errc::kConflict);
    EXPECT_EQ(house.io.run(house.service.cancel(house.admin, "sur_none")).error().code, Errc::kNotFound);
    EXPECT_EQ(house.store.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"),
              "sub_units.release sub_units.cancel sub_units.release");
}

TEST(SubUnitBroker, RecordsEveryChangeWhereNobodyCanChangeIt)
{
    BrokerHouse house;
    house.add("I", 10);
    house.add("II", 0);
    house.ask("II", "gain", 4).value();
    house.ask("I", "release", 4).value();
    house.settle();

    EXPECT_EQ(house.store.sql("SELECT string_agg(event, ' ' ORDER BY e.id) FROM sub_unit_event e"),
              "registered registered asked asked draining giving released granted gained");
    EXPECT_EQ(house.store.sql("SELECT actor || ' ' || detail FROM sub_unit_event WHERE event = 'asked' LIMIT 1"),
              "tok_admin gain: test");
    EXPECT_ANY_THROW(house.store.sql("UPDATE sub_unit_event SET count = 0"));
    EXPECT_ANY_THROW(house.store.sql("DELETE FROM sub_unit_event"));
}

TEST(SubUnitBroker, TheDatabaseItselfRefusesMoreThanIsRegistered)
{
    BrokerHouse house;
    house.add("I", 10);

    EXPECT_ANY_THROW(house.store.sql("UPDATE sub_unit_holding SET held_count = 11"));
    EXPECT_ANY_THROW(
        house.store.sql("UPDATE sub_unit_holding SET held_count = 9, target_held = 9, target_offered = 9"));
    EXPECT_EQ(house.missing(), 0);
}

TEST(SubUnitBroker, FollowsAChangedTotalAsFarAsTheCenterHasThem)
{
    BrokerHouse house;
    const CenterId one = house.add("I", 10);
    house.add("II", 0);
    house.ask("II", "gain", 8).value();
    house.ask("I", "release", 8).value();
    house.settle();

    const auto says = [&](std::int64_t total) {
        const link::SubUnitTarget now = house.target(one);
        const link::SubUnitHolding holding{.kind = "vgpu",
                                           .unit_type = "part",
                                           .registered_count = total,
                                           .most_count = 1000,
                                           .version = now.version,
                                           .held_count = now.held_count,
                                           .offered_count = now.offered_count};
        ASSERT_TRUE(house.io.run(house.service.take_state(Reporter(one), link::SubUnitState{{holding}})));
    };
    says(15);
    EXPECT_EQ(house.held(one), 7);
    house.settle();
    says(3);

    EXPECT_EQ(house.held(one), 0);
    EXPECT_EQ(house.store.sql("SELECT registered_count FROM sub_unit_holding WHERE center_id = '" + one.value + "'"),
              "8")
        << "the others are at II";
    EXPECT_EQ(house.missing(), 0);
}

} // namespace
} // namespace fathom::server
