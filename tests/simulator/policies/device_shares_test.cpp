#include "simulator/policies/device_shares.hpp"
#include "simulator/policies/policy_order.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace fathom::simulation {
namespace {

using testing::SizeIs;

constexpr std::uint32_t kSolve = 0;
constexpr std::uint32_t kStream = 1;
constexpr std::uint32_t kFast = 0;
constexpr std::uint32_t kSlow = 1;

/// Two devices of two parts each, one of rate 1 and one of rate 0.9; of solve and stream beside each other each keeps
/// 0.4. One of solve takes the fast device at 0, one of stream that runs nowhere else joins it at 1, and both are seen
/// to hurt each other. The third, of stream, comes at that time.
Scenario fast_and_slow(double third_comes_s)
{
    Scenario scenario = single_type(
        2, {make_job(0, 1000, 1, kSolve), make_job(1, 40, 1, kStream), make_job(third_comes_s, 50, 1, kStream)});
    Network& network = scenario.network;
    network.job_types = {{"solve", Scaling::kFixed}, {"stream", Scaling::kFixed}};
    network.unit_types = {make_unit_type("fast", 0, 2, {1, 1}), make_unit_type("slow", 0, 2, {0.9, 0.9})};
    for (UnitType& unit_type : network.unit_types) {
        unit_type.units_per_device = 2;
        unit_type.kept_beside = {0.5, 0.4, 0.4, 0.5};
        unit_type.peak_flops = unit_type.rates[0].rate;
    }
    scenario.workload.details.resize(2);
    scenario.workload.details[1].unit_types = {kFast};
    scenario.workload.jobs[1].details = 1;
    return scenario;
}

JobOutcome third_of(const Scenario& scenario, std::string_view policy)
{
    return simulate(scenario, policy, 1).value().jobs.at(2);
}

// By hand: beside the one of solve, expected to be there until 1000, it would take 50 + 0.6 · 125 = 125 s; on the slow
// device 50 / 0.9 = 55.6 s.
TEST(PlacesByDeviceShares, AJobGoesWhereNobodyHurtsIt)
{
    for (const std::string_view policy : {"first_come", "fathom", "oracle"}) {
        const JobOutcome third = third_of(fast_and_slow(200), policy);

        EXPECT_EQ(third.unit_type, kSlow) << policy;
        EXPECT_NEAR(third.predicted_s, 50 / 0.9, 1e-9) << policy;
        EXPECT_NEAR(third.end_s, 200 + 50 / 0.9, 1e-9) << policy;
    }
}

TEST(PlacesByDeviceShares, GoByTheFasterUnitAloneWherePairsDoNotCount)
{
    Scenario scenario = fast_and_slow(200);
    scenario.knowledge.counts_gpu_pairs = false;
    const JobOutcome third = third_of(scenario, "first_come");

    EXPECT_EQ(third.unit_type, kFast);
    EXPECT_NEAR(third.predicted_s, 50, 1e-9);
    EXPECT_NEAR(third.end_s, 200 + 125, 1e-9) << "0.4 of its speed all the time";
    EXPECT_EQ(third_of(fast_and_slow(200), "shortest_estimate_first").unit_type, kFast)
        << "who knows no measurements knows no pairs";
}

// By hand: expected to be alone from 1000 on, five seconds later: 50 + 0.6 · 5 = 53 s.
TEST(PlacesByDeviceShares, WhoIsAboutToGoCountsForSoLong)
{
    const JobOutcome third = third_of(fast_and_slow(995), "first_come");

    EXPECT_EQ(third.unit_type, kFast);
    EXPECT_NEAR(third.predicted_s, 53, 1e-9);
}

/// A device of which one of solve has a part, for 800 s more.
class OneBusyDevice final : public DeviceReports {
  public:
    OneBusyDevice()
    {
        EXPECT_TRUE(pairs_.add({.a = {"solve", {}}, .b = {"stream", {}}, .a_share = 0.4, .b_share = 0.4}));
        pairs_.refit();
    }
    std::uint64_t version() const override { return 1; }
    std::vector<TenantedGpu> devices(std::size_t, double) const override { return {{{{"solve", 800}}, 1}}; }
    const PairModel& pairs(std::size_t) const override { return pairs_; }

  private:
    PairModel pairs_;
};

class OneSecond final : public Knowledge {
  public:
    double expected_s(std::size_t, std::size_t, std::int64_t) override { return 1; }
};

TEST(PlacesByDeviceShares, AStartSaysWhatIsNotToBeLearnedAgain)
{
    Scenario scenario = fast_and_slow(200);
    scenario.network.unit_types.pop_back();
    const OneBusyDevice devices;
    OneSecond knowledge;
    const std::unique_ptr<Policy> policy = order_policy(OrderRule::kFirstCome)(scenario, knowledge, 1);
    const std::vector<UnitTypeReport> reports{{.unit_count = 2, .free_units = 1}};
    const PolicyView view{200, &scenario, reports, &devices};

    ASSERT_TRUE(policy->arrive(view, 2));
    const std::vector<PolicyStart> starts = policy->decide(view);

    ASSERT_THAT(starts, SizeIs(1));
    EXPECT_NEAR(starts[0].slowdown, 2.5, 1e-9);
    EXPECT_NEAR(starts[0].predicted_s, 2.5, 1e-9);
}

} // namespace
} // namespace fathom::simulation
