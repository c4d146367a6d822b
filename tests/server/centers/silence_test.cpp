#include "server/centers/agent_hub.hpp"
#include "server/centers/heartbeat_monitor.hpp"
#include "server/store/database_now.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::TestStore;

constexpr SilenceLimits kLimits{.suspect_after = 30s, .lost_after = 300s, .period = 5s};

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
    EXPECT_EQ(state_after(store, "299 seconds", 1h), "suspect");
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
