#include "tests/server/sub_units/broker_fixture.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace fathom::server {
namespace {

using test::BrokerFixture;

constexpr int kSteps = 100; ///< of each replica, and more until somebody has looked

/// One of the things that people and centers do at any time; whatever cannot be done is refused.
class RandomReplica {
  public:
    RandomReplica(BrokerFixture& fixture, std::vector<CenterId> centers, unsigned seed)
        : fixture_(fixture), service_(fixture.store.database()), centers_(std::move(centers)), random_(seed)
    {
    }

    void step()
    {
        const CenterId center = centers_.at(below(centers_.size()));
        switch (below(7)) {
        case 0:
            ask(center, "gain");
            break;
        case 1:
            ask(center, "release");
            break;
        case 2:
            undo();
            break;
        case 3:
            fixture_.look();
            break;
        default:
            answer(center);
        }
    }

  private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    void ask(const CenterId& center, const std::string& action)
    {
        const link::SubUnitRequest request{"vgpu", action, static_cast<std::int64_t>(below(20)) + 1, "race"};
        const MessageId message = MessageId::make();
        static_cast<void>(fixture_.io.run(service_.take_request(Reporter(center), message, request)));
        if (below(3) == 0)
            static_cast<void>(fixture_.io.run(service_.take_request(Reporter(center), message, request)));
    }

    void undo()
    {
        const std::vector<SubUnitGrantRecord> grants = fixture_.grants();
        if (grants.empty()) return;
        static_cast<void>(fixture_.io.run(service_.undo(fixture_.admin, grants.at(below(grants.size())).id.value)));
    }

    /// Some agent has reached what it heard, heard it late, or refuses it.
    void answer(const CenterId& center)
    {
        const Result<std::vector<link::SubUnitTarget>> targets = fixture_.io.run(service_.targets(Reporter(center)));
        if (!targets || targets->empty()) return;
        const link::SubUnitTarget& target = targets->front();
        link::SubUnitHolding holding{.kind = "vgpu", .unit_type = "part", .registered_count = 100, .most_count = 1000};
        const bool refuses = below(8) == 0;
        holding.version = refuses ? target.version - 1 : target.version;
        if (refuses) holding.refused_version = target.version;
        holding.held_count = target.held_count;
        if (!refuses)
            fixture_.store.sql("UPDATE unit_type SET unit_count = " + std::to_string(target.offered_count) +
                               " WHERE center_id = '" + center.value + "'");
        static_cast<void>(fixture_.io.run(service_.take_state(Reporter(center), link::SubUnitState{{holding}})));
    }

    BrokerFixture& fixture_;
    SubUnitsService service_;
    std::vector<CenterId> centers_;
    std::mt19937 random_;
};

TEST(SubUnitRace, ReplicasThatRaceNeverMakeOrLoseASubUnit)
{
    BrokerFixture fixture;
    const std::vector<CenterId> centers{fixture.add("a", 100), fixture.add("b", 100), fixture.add("c", 100)};
    std::atomic<int> running = 3;
    std::atomic<std::int64_t> looks = 0;
    std::vector<std::thread> replicas;
    for (unsigned seed = 1; seed <= 3; ++seed)
        replicas.emplace_back([&fixture, &centers, &running, &looks, seed] {
            RandomReplica replica(fixture, centers, seed);
            for (int step = 0; step < kSteps || looks == 0; ++step)
                replica.step();
            --running;
        });
    while (running > 0) {
        EXPECT_EQ(fixture.missing(), 0);
        ++looks;
    }
    for (std::thread& replica : replicas)
        replica.join();
    fixture.settle();

    EXPECT_EQ(fixture.missing(), 0);
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_holding WHERE version <> reached_version"), "0");
    EXPECT_EQ(fixture.store.sql("SELECT count(*) FROM sub_unit_grant WHERE state = 'moving'"), "0");
    EXPECT_NE(fixture.store.sql("SELECT count(*) FROM sub_unit_grant"), "0") << "nothing has moved at all";
}

} // namespace
} // namespace fathom::server
