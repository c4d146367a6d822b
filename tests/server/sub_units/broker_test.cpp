#include "tests/server/sub_units/broker_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::BrokerFixture;
using testing::HasSubstr;

TEST(SubUnitBroker, GivesTheGoldenScenariosFiftyOfTheHundredAskedFor)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 100);
    const CenterId two = fixture.add("II", 100);

    const SubUnitRequestRecord gain = fixture.ask("II", "gain", 100).value();
    const SubUnitRequestRecord release = fixture.ask("I", "release", 50).value();
    fixture.settle();

    EXPECT_EQ(fixture.held(one), 50);
    EXPECT_EQ(fixture.held(two), 150);
    EXPECT_EQ(fixture.request(release.id).state, "done");
    EXPECT_EQ(fixture.request(gain.id).granted_count, 50);
    EXPECT_EQ(fixture.request(gain.id).state, "waiting") << "for the other 50";
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, TurnsLoadsIntoARequest)
{
    BrokerFixture fixture;
    fixture.add("I", 100);
    fixture.add("II", 100);
    const auto balance = [&](const std::string& center, double transfer, double compute) {
        SubUnitsService::Wanted wanted;
        wanted.center = center;
        wanted.kind = "vgpu";
        wanted.action = "balance";
        wanted.transfer_load = transfer;
        wanted.compute_load = compute;
        return fixture.io.run(fixture.service.ask(fixture.admin, std::move(wanted)));
    };

    const SubUnitRequestRecord gain = balance("II", 0.5, 1).value();
    const SubUnitRequestRecord release = balance("I", 1, 0.5).value();

    EXPECT_EQ(gain.action + " " + std::to_string(gain.count), "gain 100");
    EXPECT_EQ(release.action + " " + std::to_string(release.count), "release 50");
    fixture.settle();
    EXPECT_EQ(balance("I", 0.5, 0.5).error().code, Errc::kConflict) << "just what it wants";
    EXPECT_EQ(balance("I", 0, 0.5).error().code, Errc::kInvalid);
}

TEST(SubUnitBroker, GrantsOnlyWhatTheGivingCenterHasConfirmed)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const CenterId two = fixture.add("II", 0);
    fixture.ask("II", "gain", 4).value();
    const SubUnitRequestRecord release = fixture.ask("I", "release", 4).value();

    EXPECT_EQ(release.state, "draining");
    EXPECT_EQ(fixture.target(one).held_count, 10);
    EXPECT_EQ(fixture.target(one).offered_count, 6);
    fixture.follow(one);
    EXPECT_EQ(fixture.request(release.id).state, "giving");
    EXPECT_EQ(fixture.target(one).held_count, 6);
    EXPECT_EQ(fixture.held(one), 10) << "it may still use them";
    EXPECT_EQ(fixture.target(two).held_count, 0);
    fixture.follow(one);

    EXPECT_EQ(fixture.held(one), 6);
    EXPECT_EQ(fixture.target(two).held_count, 4);
    EXPECT_EQ(fixture.grants().at(0).state, "moving");
    fixture.follow(two);
    EXPECT_EQ(fixture.grants().at(0).state, "granted");
}

TEST(SubUnitBroker, WaitsForJobsThatUseWhatIsToBeGivenUp)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    fixture.run_job(one, 7);
    const SubUnitRequestRecord release = fixture.ask("I", "release", 4).value();

    fixture.settle();
    EXPECT_EQ(fixture.request(release.id).state, "draining");
    EXPECT_EQ(fixture.held(one), 10);
    fixture.end_jobs();
    fixture.run_job(one, 6);
    fixture.settle();

    EXPECT_EQ(fixture.request(release.id).state, "done");
    EXPECT_EQ(fixture.free_count(), 4);
}

TEST(SubUnitBroker, SharesWhatIsFreedEquallyAndQueuesTheRest)
{
    BrokerFixture fixture;
    fixture.add("giver", 30);
    const CenterId much = fixture.add("much", 0);
    const CenterId little = fixture.add("little", 0);
    const CenterId late = fixture.add("late", 0);
    fixture.ask("much", "gain", 100).value();
    fixture.ask("little", "gain", 2).value();
    fixture.ask("late", "gain", 100).value();

    fixture.ask("giver", "release", 9).value();
    fixture.settle();
    EXPECT_EQ(fixture.held(much), 4) << "what does not divide is for whom asked first";
    EXPECT_EQ(fixture.held(little), 2);
    EXPECT_EQ(fixture.held(late), 3);

    fixture.ask("giver", "release", 21).value();
    fixture.settle();
    EXPECT_EQ(fixture.held(much) + fixture.held(late), 28);
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, TakesAMessageThatComesTwiceOnce)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const MessageId message = MessageId::make();
    const link::SubUnitRequest request{"vgpu", "release", 4, "link busy"};

    ASSERT_TRUE(fixture.io.run(fixture.service.take_request(Reporter(one), message, request)));
    fixture.settle();
    ASSERT_TRUE(fixture.io.run(fixture.service.take_request(Reporter(one), message, request)));
    fixture.settle();
    fixture.repeat(one);

    EXPECT_EQ(fixture.held(one), 6);
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_request"), "1");
    EXPECT_EQ(fixture.store.sql("SELECT asked_by FROM sub_unit_request"), one.value);
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM audit_log"), "0") << "no person did it";
}

TEST(SubUnitBroker, ForgetsWhatAnAgentWantsNoMore)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const CenterId two = fixture.add("II", 10);
    const auto asks = [&](const std::string& action, std::int64_t count) {
        const link::SubUnitRequest request{"vgpu", action, count, ""};
        return fixture.io.run(fixture.service.take_request(Reporter(two), MessageId::make(), request)).has_value();
    };

    EXPECT_TRUE(asks("keep", 0)) << "when it asked for nothing";
    EXPECT_TRUE(asks("gain", 8));
    const SubUnitRequestRecord peoples = fixture.ask("I", "gain", 1).value();
    EXPECT_TRUE(asks("keep", 0));
    fixture.add("III", 10);
    fixture.ask("III", "release", 5).value();
    fixture.settle();
    EXPECT_EQ(fixture.held(two), 10);
    EXPECT_EQ(fixture.held(one), 11) << "another center's request stands";
    EXPECT_EQ(fixture.request(peoples.id).state, "done");
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, ReplacesWhatAnAgentHasAskedForBefore)
{
    BrokerFixture fixture;
    fixture.add("I", 10);
    const CenterId two = fixture.add("II", 10);
    const auto asks = [&](const std::string& action, std::int64_t count) {
        const link::SubUnitRequest request{"vgpu", action, count, ""};
        return fixture.io.run(fixture.service.take_request(Reporter(two), MessageId::make(), request)).has_value();
    };

    EXPECT_TRUE(asks("gain", 8));
    EXPECT_TRUE(asks("gain", 8)) << "the same once more";
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_request"), "1");
    fixture.ask("I", "release", 3).value();
    fixture.settle();
    EXPECT_TRUE(asks("gain", 5)) << "what is missing of it";
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_request WHERE action = 'gain'"), "1");
    EXPECT_TRUE(asks("release", 2));
    EXPECT_EQ(fixture.store.sql("SELECT string_agg(state, ' ' ORDER BY turn) FROM sub_unit_request"),
              "cancelled done draining");
    fixture.follow(two);
    EXPECT_FALSE(asks("gain", 1)) << "it is giving some up";
    fixture.settle();
    EXPECT_EQ(fixture.held(two), 11);
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, LeavesALostCenterWhatItHasAndGrantsItNothing)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const CenterId two = fixture.add("II", 10);
    fixture.ask("II", "gain", 5).value();
    const SubUnitRequestRecord release = fixture.ask("I", "release", 5).value();
    fixture.follow(one);
    fixture.store.sql("UPDATE center SET state = 'lost'");
    fixture.look();

    EXPECT_EQ(fixture.request(release.id).state, "giving");
    EXPECT_EQ(fixture.held(one), 10) << "it may still use all of them";

    fixture.store.sql("UPDATE center SET state = 'online' WHERE name = 'I'");
    fixture.follow(one);
    fixture.look();
    EXPECT_EQ(fixture.free_count(), 5);
    EXPECT_EQ(fixture.held(two), 10) << "nobody hears it";

    fixture.store.sql("UPDATE center SET state = 'online'");
    fixture.settle();
    EXPECT_EQ(fixture.held(two), 15);
}

TEST(SubUnitBroker, LeavesAllAsItWasWhenTheGivingCenterRefuses)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const SubUnitRequestRecord release = fixture.ask("I", "release", 4).value();
    fixture.follow(one);
    fixture.refuse(one, "the driver is busy");
    fixture.settle();

    EXPECT_EQ(fixture.request(release.id).state, "refused");
    EXPECT_EQ(fixture.request(release.id).end_reason, "the driver is busy");
    EXPECT_EQ(fixture.held(one), 10);
    EXPECT_EQ(fixture.target(one).offered_count, 10);
    EXPECT_EQ(fixture.free_count(), 0);
}

TEST(SubUnitBroker, FreesAgainWhatTheGainingCenterRefuses)
{
    BrokerFixture fixture;
    fixture.add("I", 10);
    const CenterId two = fixture.add("II", 0);
    const CenterId three = fixture.add("III", 0);
    const SubUnitRequestRecord gain = fixture.ask("II", "gain", 4).value();
    fixture.ask("I", "release", 4).value();
    while (fixture.grants().empty())
        fixture.follow({fixture.store.sql("SELECT id FROM center WHERE name = 'I'")});

    fixture.refuse(two, "no free slot");
    EXPECT_EQ(fixture.request(gain.id).state, "refused");
    EXPECT_EQ(fixture.grants().at(0).state, "refused");
    EXPECT_EQ(fixture.free_count(), 4);
    fixture.ask("III", "gain", 4).value();
    fixture.settle();

    EXPECT_EQ(fixture.held(two), 0);
    EXPECT_EQ(fixture.held(three), 4);
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, RefusesWhatCannotBe)
{
    BrokerFixture fixture;
    fixture.add("I", 10, 12);
    fixture.add("II", 10, 20);

    EXPECT_EQ(fixture.ask("nowhere", "gain", 1).error().code, Errc::kInvalid);
    EXPECT_EQ(fixture.ask("I", "release", 11).error().code, Errc::kConflict);
    EXPECT_EQ(fixture.ask("I", "gain", 3).error().code, Errc::kInfeasible);
    ASSERT_TRUE(fixture.ask("I", "gain", 1));
    const Result<SubUnitRequestRecord> second = fixture.ask("I", "release", 1);
    EXPECT_EQ(second.error().code, Errc::kConflict);
    EXPECT_THAT(second.error().detail, HasSubstr("sur_")) << "it names the open one";
    const link::SubUnitRequest unknown{"mig", "gain", 1, ""};
    EXPECT_EQ(fixture.io.run(fixture.service.take_request(Reporter(CenterId::make()), MessageId::make(), unknown))
                  .error()
                  .code,
              Errc::kInvalid);
}

TEST(SubUnitBroker, ListensToTheNewestSessionOnly)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    fixture.store.sql("UPDATE center SET session_epoch = 2");
    const link::SubUnitRequest request{"vgpu", "release", 1, ""};

    EXPECT_EQ(fixture.io.run(fixture.service.take_request(Reporter(one, 1), MessageId::make(), request)).error().code,
              Errc::kUnavailable);
    EXPECT_EQ(fixture.io.run(fixture.service.take_state(Reporter(one, 1), {})).error().code, Errc::kUnavailable);
    EXPECT_EQ(fixture.io.run(fixture.service.targets(Reporter(one, 1))).error().code, Errc::kUnavailable);
    EXPECT_TRUE(fixture.io.run(fixture.service.take_request(Reporter(one, 2), MessageId::make(), request)));
}

TEST(SubUnitBroker, ACenterHasAHundredKindsAtMost)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    link::SubUnitState others;
    for (int i = 0; i < 100; ++i)
        others.holdings.push_back({.kind = "kind " + std::to_string(i), .unit_type = "part"});

    const Result<void> taken = fixture.io.run(fixture.service.take_state(Reporter(one), others));

    EXPECT_EQ(taken.error().code, Errc::kInvalid);
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_kind"), "1") << "what it says again and again stays few";
    fixture.repeat(one);
}

TEST(SubUnitBroker, CallsOpenRequestsOffButNotWhatIsBeingGivenUp)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const SubUnitRequestRecord drained = fixture.ask("I", "release", 4).value();
    EXPECT_EQ(fixture.io.run(fixture.service.cancel(fixture.admin, drained.id.value)).value().state, "cancelled");
    EXPECT_EQ(fixture.io.run(fixture.service.cancel(fixture.admin, drained.id.value)).value().state, "cancelled");
    fixture.settle();
    EXPECT_EQ(fixture.target(one).offered_count, 10);

    const SubUnitRequestRecord given = fixture.ask("I", "release", 4).value();
    fixture.follow(one);
    EXPECT_EQ(fixture.io.run(fixture.service.cancel(fixture.admin, given.id.value)).error().code, Errc::kConflict);
    EXPECT_EQ(fixture.io.run(fixture.service.cancel(fixture.admin, "sur_none")).error().code, Errc::kNotFound);
    EXPECT_EQ(fixture.store.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"),
              "sub_units.release sub_units.cancel sub_units.release");
}

TEST(SubUnitBroker, RecordsEveryChangeWhereNobodyCanChangeIt)
{
    BrokerFixture fixture;
    fixture.add("I", 10);
    fixture.add("II", 0);
    fixture.ask("II", "gain", 4).value();
    fixture.ask("I", "release", 4).value();
    fixture.settle();

    EXPECT_EQ(fixture.store.sql("SELECT string_agg(event, ' ' ORDER BY e.id) FROM sub_unit_event e"),
              "registered registered asked asked draining giving released granted gained");
    EXPECT_EQ(fixture.store.sql("SELECT actor || ' ' || detail FROM sub_unit_event WHERE event = 'asked' LIMIT 1"),
              "tok_admin gain: test");
    EXPECT_ANY_THROW(fixture.store.sql("UPDATE sub_unit_event SET count = 0"));
    EXPECT_ANY_THROW(fixture.store.sql("DELETE FROM sub_unit_event"));
}

TEST(SubUnitBroker, TheDatabaseItselfRefusesMoreThanIsRegistered)
{
    BrokerFixture fixture;
    fixture.add("I", 10);

    EXPECT_ANY_THROW(fixture.store.sql("UPDATE sub_unit_holding SET held_count = 11"));
    EXPECT_ANY_THROW(
        fixture.store.sql("UPDATE sub_unit_holding SET held_count = 9, target_held = 9, target_offered = 9"));
    EXPECT_EQ(fixture.missing(), 0);
}

TEST(SubUnitBroker, FollowsAChangedTotalAsFarAsTheCenterHasThem)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    fixture.add("II", 0);
    fixture.ask("II", "gain", 8).value();
    fixture.ask("I", "release", 8).value();
    fixture.settle();

    const auto says = [&](std::int64_t total) {
        const link::SubUnitTarget now = fixture.target(one);
        const link::SubUnitHolding holding{.kind = "vgpu",
                                           .unit_type = "part",
                                           .registered_count = total,
                                           .most_count = 1000,
                                           .version = now.version,
                                           .held_count = now.held_count,
                                           .offered_count = now.offered_count};
        ASSERT_TRUE(fixture.io.run(fixture.service.take_state(Reporter(one), link::SubUnitState{{holding}})));
    };
    says(15);
    EXPECT_EQ(fixture.held(one), 7);
    fixture.settle();
    says(3);

    EXPECT_EQ(fixture.held(one), 0);
    EXPECT_EQ(fixture.store.sql("SELECT registered_count FROM sub_unit_holding WHERE center_id = '" + one.value + "'"),
              "8")
        << "the others are at II";
    EXPECT_EQ(fixture.missing(), 0);
}

} // namespace
} // namespace fathom::server
