#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

#include <limits>

// Whatever a policy does, no unit is used twice, and no job is lost or run twice: the simulation ends with an error.
namespace fathom::simulation {
namespace {

using Starts = std::vector<PolicyStart>;

/// Starts what it is told to, and wants to be asked again when it is told to.
class Cheat final : public Policy {
  public:
    explicit Cheat(std::function<Starts(const PolicyView&)> decide,
                   double wake_at_s = std::numeric_limits<double>::infinity())
        : decide_(std::move(decide)), wake_at_s_(wake_at_s)
    {
    }
    bool hands_over() const override { return false; }
    std::vector<PolicyStart> decide(const PolicyView& view) override { return decide_(view); }
    double wake_at_s(const PolicyView&) const override { return wake_at_s_; }

  private:
    std::function<Starts(const PolicyView&)> decide_;
    double wake_at_s_;
};

/// Sends jobs to the centers as it is told to.
class MisleadingPolicy final : public Policy {
  public:
    explicit MisleadingPolicy(PolicyStart choice) : choice_(choice) {}
    bool hands_over() const override { return true; }
    PolicyStart choose(const PolicyView&, std::size_t, std::span<const std::uint32_t>) override { return choice_; }

  private:
    PolicyStart choice_;
};

/// Two units; two jobs of one unit and 10 s at 0 and 1, and one of two units at 2.
Scenario two_units()
{
    return single_type(2, {make_job(0, 10), make_job(1, 10), make_job(2, 10, 2)});
}

Result<SimulationResult> run(const Scenario& scenario, std::function<Starts(const PolicyView&)> decide)
{
    return simulate(
        scenario,
        [&](const Scenario&, Knowledge&, std::uint64_t) { return std::make_unique<Cheat>(std::move(decide)); }, 1);
}

void expect_caught(const Result<SimulationResult>& result, const std::string& why)
{
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kInternal);
    EXPECT_NE(result.error().detail.find(why), std::string::npos) << result.error().detail;
}

TEST(CheatingPolicy, OneThatIsHonestIsNotCaught)
{
    std::size_t next = 0;
    const auto result = run(two_units(), [&](const PolicyView& view) {
        const std::size_t come = view.now_s < 1 ? 1 : view.now_s < 2 ? 2 : 3;
        Starts starts;
        for (std::int64_t free = view.reports[0].free_units; next < come && free >= (next == 2 ? 2 : 1); ++next) {
            starts.push_back({next, 0, next == 2 ? 2 : 1, 10});
            free -= starts.back().unit_count;
        }
        return starts;
    });

    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_EQ(result->jobs[2].start_s, 11);
}

TEST(CheatingPolicy, MayStartNoJobTwice)
{
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 0, 1, 10}, {0, 0, 1, 10}}; }), "twice");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 0, 1, 10}}; }), "twice");
    // Job 0 again, when it has ended.
    expect_caught(run(two_units(),
                      [](const PolicyView& view) {
                          return view.now_s == 0 || view.now_s == 10 ? Starts{{0, 0, 1, 10}} : Starts{};
                      }),
                  "twice");
}

TEST(CheatingPolicy, MayUseNoUnitTwice)
{
    const auto all_at_once = [](const PolicyView& view) {
        return view.now_s == 0   ? Starts{{0, 0, 1, 10}}
               : view.now_s == 1 ? Starts{{1, 0, 1, 10}}
                                 : Starts{{2, 0, 2, 10}};
    };
    expect_caught(run(two_units(), all_at_once), "used units");

    Scenario three = single_type(1, {make_job(0, 10), make_job(0, 10)});
    expect_caught(run(three, [](const PolicyView&) { return Starts{{0, 0, 1, 10}, {1, 0, 1, 10}}; }), "used units");
}

TEST(CheatingPolicy, MayStartOnlyWhatHasComeWhereItFits)
{
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{1, 0, 1, 10}}; }), "not there");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{7, 0, 1, 10}}; }), "not there");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 1, 1, 10}}; }), "not there");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 0, 2, 10}}; }), "cannot run");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 0, 0, 10}}; }), "cannot run");
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{{0, 0, -1, 10}}; }), "cannot run");

    Scenario closed = two_units();
    closed.network.centers[0].closures = {{0, 100}};
    expect_caught(run(closed, [](const PolicyView&) { return Starts{{0, 0, 1, 10}}; }), "closed");
}

TEST(CheatingPolicy, MayNotPredictNothing)
{
    for (const double predicted_s : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(run(two_units(), [=](const PolicyView&) { return Starts{{0, 0, 1, predicted_s}}; }))
            << predicted_s;
}

TEST(CheatingPolicy, MayNotExpectThatOthersMakeAJobFaster)
{
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    for (const double slowdown : {0.5, 0.0, std::numeric_limits<double>::infinity(), kNaN})
        expect_caught(run(two_units(), [=](const PolicyView&) { return Starts{{0, 0, 1, 10, slowdown}}; }), "beside");
}

TEST(CheatingPolicy, MayNotLoseJobs)
{
    expect_caught(run(two_units(), [](const PolicyView&) { return Starts{}; }), "waiting for ever");
}

TEST(CheatingPolicy, MayNotStopTime)
{
    const Scenario scenario = two_units();
    for (const double wake_at_s : {0.0, -5.0, std::numeric_limits<double>::quiet_NaN()}) {
        const auto result = simulate(
            scenario,
            [&](const Scenario&, Knowledge&, std::uint64_t) {
                return std::make_unique<Cheat>([](const PolicyView&) { return Starts{}; }, wake_at_s);
            },
            1);
        expect_caught(result, "before time goes on");
    }
}

TEST(CheatingPolicy, MaySendJobsOnlyWhereTheyFit)
{
    Scenario scenario = two_units();
    scenario.network.unit_types.push_back(make_unit_type("small", 0, 1, {1}));
    const auto send = [&](PolicyStart choice) {
        return simulate(
            scenario,
            [=](const Scenario&, Knowledge&, std::uint64_t) { return std::make_unique<MisleadingPolicy>(choice); }, 1);
    };
    expect_caught(send({1, 0, 1, 10}), "cannot run");
    expect_caught(send({0, 2, 1, 10}), "cannot run");
    expect_caught(send({0, 0, 0, 10}), "cannot run");
    expect_caught(send({0, 0, 2, 10}), "cannot run");
    expect_caught(send({0, 0, 1, 0}), "cannot run");

    scenario.workload.jobs = {make_job(0, 10, 2)};
    scenario.workload.end_counted = 1;
    expect_caught(send({0, 1, 2, 10}), "cannot run");
}

} // namespace
} // namespace fathom::simulation
