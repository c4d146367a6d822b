#include "server/centers/sessions/agent_hub.hpp"
#include "server/centers/sessions/heartbeat_monitor.hpp"
#include "server/store/database_now.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <chrono>
#include <string>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::TestStore;

constexpr HeartbeatLimits kLimits{.suspect_after = 30s, .lost_after = 300s, .period = 5s};

/// The state of the one center after marking, when it has been silent and watched for so long.
std::string state_after(TestStore& store, const std::string& silent, std::chrono::seconds watched)
{
    store.sql("UPDATE center SET last_seen_at = now() - interval '" + silent + "'");
    store
        .run([&](pqxx::work& transaction) -> Result<void> {
            const Timestamp since = database_now(transaction) - watched;
            mark_silent_centers(transaction, since, kLimits.suspect_after, kLimits.lost_after);
            return {};
        })
        .value();
    return store.sql("SELECT state FROM center");
}

TEST(HeartbeatMonitor, SilenceMakesACenterSuspectThenLost)
{
    TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());

    EXPECT_EQ(state_after(store, "20 seconds", 1h), "online");
    EXPECT_EQ(state_after(store, "40 seconds", 1h), "suspect");
    EXPECT_EQ(state_after(store, "280 seconds", 1h), "suspect");
    EXPECT_EQ(state_after(store, "301 seconds", 1h), "lost");
}

TEST(HeartbeatMonitor, SilenceBeforeWeCouldHearDoesNotCount)
{
    TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());

    EXPECT_EQ(state_after(store, "1 day", 10s), "online");
    EXPECT_EQ(state_after(store, "1 day", 40s), "suspect");
    EXPECT_EQ(state_after(store, "1 day", 400s), "lost");
}

TEST(HeartbeatMonitor, TheFirstLookOfAReplicaMarksNothing)
{
    TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());
    store.sql("UPDATE center SET last_seen_at = now() - interval '1 day'");
    HeartbeatMonitor task(kLimits);

    for (int look = 0; look < 2; ++look) {
        const auto marked = store.run(
            [&](pqxx::work& transaction) -> Result<std::vector<SilentCenter>> { return task.look(transaction); });
        EXPECT_TRUE(marked.value().empty());
    }
    EXPECT_EQ(store.sql("SELECT state FROM center"), "online");
}

TEST(HeartbeatMonitor, LooksMarkWhatStayedSilent)
{
    TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());
    store.sql("UPDATE center SET last_seen_at = now() - interval '1 day'");
    HeartbeatMonitor eager({.suspect_after = 0s, .lost_after = 0s, .period = 5s});

    const auto marked = store.run(
        [&](pqxx::work& transaction) -> Result<std::vector<SilentCenter>> { return eager.look(transaction); });

    ASSERT_EQ(marked.value().size(), 1U);
    EXPECT_EQ(marked.value()[0].name, "alpha");
    EXPECT_EQ(marked.value()[0].state, "lost");
}

/// One online center and a monitor, whose database's clock is moved by hand.
class MovedClock {
  public:
    MovedClock()
    {
        test::add_center(store_, "alpha", test::golden_catalog());
        store_.sql("CREATE SCHEMA moved");
        for (const std::string name : {"now", "clock_timestamp"})
            store_.sql("CREATE FUNCTION moved." + name +
                       "() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog." + name +
                       "() + current_setting('moved.ahead')::interval $$");
    }

    void set_last_seen(const std::string& moment) const { store_.sql("UPDATE center SET last_seen_at = " + moment); }

    /// The center's state after a look; both clocks are ahead of the true ones by so much.
    std::string state_after_look(std::chrono::seconds database_ahead, std::chrono::seconds steady_ahead)
    {
        const auto look = [&](pqxx::work& transaction) -> Result<void> {
            transaction.exec0("SET LOCAL search_path = moved, pg_catalog, public");
            transaction.exec0("SET LOCAL moved.ahead = '" + std::to_string(database_ahead.count()) + " seconds'");
            monitor_.look(transaction, std::chrono::steady_clock::now() + steady_ahead);
            return {};
        };
        store_.run(look).value();
        return store_.sql("SELECT state FROM center");
    }

  private:
    TestStore store_;
    HeartbeatMonitor monitor_{{.suspect_after = 300s, .lost_after = 600s, .period = 300s}};
};

TEST(HeartbeatMonitor, AForwardJumpOfTheDatabasesClockIsNoSilence)
{
    for (const std::chrono::seconds jump : {840s, 3600s, 86400s}) {
        MovedClock clock;
        clock.set_last_seen("now()");
        EXPECT_EQ(clock.state_after_look(0s, 0s), "online");

        EXPECT_EQ(clock.state_after_look(jump, 0s), "online") << jump.count();
    }
}

TEST(HeartbeatMonitor, SilenceIsNoticedAfterABackwardJumpOfTheDatabasesClock)
{
    MovedClock clock;
    clock.set_last_seen("now() + interval '1 hour'");
    EXPECT_EQ(clock.state_after_look(3600s, 0s), "online");

    EXPECT_EQ(clock.state_after_look(0s, 0s), "online");
    // A look that was held up between its readings of both clocks counts anew once more.
    std::string state = clock.state_after_look(660s, 660s);
    for (int looks = 2; looks < 5 && state != "lost"; ++looks)
        state = clock.state_after_look(looks * 660s, looks * 660s);
    EXPECT_EQ(state, "lost");
}

TEST(HeartbeatMonitor, ACenterThatIsWellIsWrittenDownBeforeItWouldBeSuspect)
{
    for (const std::chrono::seconds suspect_after : {3s, 5s, 20s, 30s, 600s}) {
        const AgentHubOptions options = options_within({.suspect_after = suspect_after, .lost_after = 600s});
        EXPECT_GE(options.heartbeat, 1s);
        EXPECT_LT(options.heartbeat + options.order_tick + options.touch_period, suspect_after);
    }
    EXPECT_EQ(options_within({}).heartbeat, 10s);
}

TEST(HeartbeatMonitor, CentersThatNeverConnectedAreLeftAlone)
{
    TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());
    store.sql("UPDATE center SET state = 'enrolled', last_seen_at = NULL");

    EXPECT_EQ(state_after(store, "1 day", 1h), "enrolled");
}

} // namespace
} // namespace fathom::server
