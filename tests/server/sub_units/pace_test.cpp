// What one agent may have recorded.
#include "tests/server/sub_units/broker_fixture.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <atomic>
#include <future>
#include <semaphore>
#include <vector>

namespace fathom::server {
namespace {

using test::BrokerFixture;

class SubUnitPace : public testing::Test {
  protected:
    Result<void> ask_as_agent(const std::string& action, std::int64_t count)
    {
        const link::SubUnitRequest request{"vgpu", action, count, ""};
        return fixture_.io.run(fixture_.service.take_request(Reporter(one_), MessageId::make(), request));
    }
    /// The center's agent did as much as it may so many minutes ago.
    void use_up(int minutes_ago = 0)
    {
        fixture_.store.sql("INSERT INTO sub_unit_event (at, kind, center_id, event, count, held_count, actor, detail) "
                           "SELECT now() - interval '" +
                           std::to_string(minutes_ago) + " minutes', 'vgpu', id, 'asked', 1, 10, id, 'earlier' " +
                           "FROM center, generate_series(1, 200) WHERE id = '" + one_.value + "'");
    }
    std::string requests() const
    {
        return fixture_.store.sql("SELECT string_agg(state || ' ' || count, ',' ORDER BY turn) FROM sub_unit_request");
    }

    BrokerFixture fixture_;
    CenterId one_ = fixture_.add("I", 10);
};

TEST_F(SubUnitPace, AnAgentThatAsksTooOftenIsRefusedAndWhatItAskedForStands)
{
    ASSERT_TRUE(ask_as_agent("gain", 2));
    use_up();

    const Result<void> refused = ask_as_agent("gain", 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooMany);
    EXPECT_EQ(requests(), "waiting 2");
    EXPECT_TRUE(ask_as_agent("gain", 2)) << "the same adds nothing";
    EXPECT_TRUE(ask_as_agent("keep", 0));
    EXPECT_EQ(requests(), "cancelled 2");
    EXPECT_TRUE(fixture_.ask("I", "gain", 1)) << "a person is not its agent";
}

TEST_F(SubUnitPace, AnAgentMayAskAgainAfterTenMinutes)
{
    use_up(/*minutes_ago=*/11);

    EXPECT_TRUE(ask_as_agent("gain", 3));
}

TEST_F(SubUnitPace, OneCentersAgentDoesNotHinderAnother)
{
    use_up();
    const CenterId two = fixture_.add("II", 10);

    const link::SubUnitRequest request{"vgpu", "gain", 1, ""};
    EXPECT_TRUE(fixture_.io.run(fixture_.service.take_request(Reporter(two), MessageId::make(), request)));
}

TEST_F(SubUnitPace, ATotalThatChangesTooOftenCountsLater)
{
    use_up();
    fixture_.share(one_, 15);
    fixture_.settle();
    EXPECT_EQ(fixture_.held(one_), 10);
    EXPECT_EQ(fixture_.missing(), 0);

    fixture_.store.sql("ALTER TABLE sub_unit_event DISABLE TRIGGER sub_unit_event_is_final");
    fixture_.store.sql("UPDATE sub_unit_event SET at = at - interval '11 minutes'");
    fixture_.settle();
    EXPECT_EQ(fixture_.held(one_), 15);
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitPace, WhatManyReleasesFreedIsGrantedInSteps)
{
    const CenterId giver = fixture_.add("giver", 100);
    fixture_.store.sql("WITH given AS (UPDATE sub_unit_holding SET held_count = 50, target_held = 50, target_offered = "
                       "50 WHERE center_id = '" +
                       giver.value +
                       "' RETURNING kind, center_id) INSERT INTO sub_unit_request (id, kind, center_id, action, count, "
                       "free_count, state, reason, asked_by, ended_at) SELECT 'sur_' || n, kind, center_id, 'release', "
                       "1, 1, 'done', '', center_id, now() FROM given, generate_series(1, 50) AS n");

    const SubUnitRequestRecord gain = fixture_.ask("I", "gain", 50).value();
    EXPECT_EQ(fixture_.grants().size(), 20U);
    fixture_.settle();

    EXPECT_EQ(fixture_.grants().size(), 50U);
    EXPECT_EQ(fixture_.held(one_), 60);
    EXPECT_EQ(fixture_.request(gain.id).state, "done");
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitPace, AgentsAreHeardWhateverElseWaitsForTheDatabase)
{
    Metrics metrics;
    Database database({.url = fixture_.store.url(), .connections = 4}, metrics);
    SubUnitsService service(database);
    constexpr int kFlood = 8;
    std::counting_semaphore<kFlood> leave{0};
    std::atomic<int> entered{0};
    auto hold = [&leave, &entered](pqxx::work&) -> Result<void> {
        ++entered;
        leave.acquire();
        return {};
    };
    std::vector<std::future<Result<void>>> flood;
    for (int i = 0; i < kFlood; ++i)
        flood.push_back(fixture_.io.spawn(database.run(hold)));
    EXPECT_TRUE(fathom::test::eventually([&] { return entered == 3; })) << "of four connections";
    const link::SubUnitRequest request{"vgpu", "gain", 2, ""};

    auto told = fixture_.io.spawn(service.targets(Reporter(one_)));
    auto asked = fixture_.io.spawn(service.take_request(Reporter(one_), MessageId::make(), request));
    const bool is_told = told.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    const bool is_asked = asked.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    leave.release(kFlood);
    for (std::future<Result<void>>& one : flood)
        EXPECT_TRUE(one.get());

    EXPECT_TRUE(is_told);
    EXPECT_TRUE(is_asked);
    EXPECT_TRUE(told.get());
    EXPECT_TRUE(asked.get());
    database.stop();
}

} // namespace
} // namespace fathom::server
