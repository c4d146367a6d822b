#include "simulator/policies/place_finder.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

/// Every run takes 100 s, or up to so many times as long.
class Within final : public Knowledge {
  public:
    explicit Within(double times) : times_(times) {}
    double expected_s(std::size_t, std::size_t, std::int64_t) override { return 100; }
    RunTime expected_run(std::size_t, std::size_t, std::int64_t) override { return {100, 100 / times_, 100 * times_}; }

  private:
    double times_;
};

TEST(PlaceFinder, AJobIsGivenUnitsThatItMayNeedForLongerThanIsExpected)
{
    Scenario scenario = single_type(1, {make_job(0, 100)});
    scenario.workload.details[0].deadline_in_s = 400;
    const auto places_within = [&](double times) {
        Within knowledge(times);
        PlaceFinder finder(scenario, knowledge);
        Availability available(1);
        available.take(130, 1000, 1); // maintenance
        finder.set_available(0, std::move(available));
        return finder.find(0, 0);
    };

    EXPECT_EQ(places_within(1.2).options.size(), 1U) << "it ends in time, even if it takes 120 s";
    const JobPlaces wide = places_within(2);
    EXPECT_TRUE(wide.options.empty()) << "it might run into the maintenance, as the server sees it";
    EXPECT_FALSE(wide.is_hopeless);
}

} // namespace
} // namespace fathom::simulation
