#include "core/decide/queue/wait_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

using testing::ElementsAreArray;
using NamedStarts = std::vector<std::pair<std::string, std::size_t>>; ///< jobs with their options

/// Jobs whose place depends on what units are worth and how busy they are: alone, alike, of a gang, in a hurry.
std::vector<WaitingJobView> some_jobs()
{
    const JobOptions shared{{0, 1, 100}, {1, 1, 160}};
    std::vector<WaitingJobView> jobs;
    const auto add = [&jobs](const char* id, JobOptions options) -> WaitingJobView& {
        WaitingJobView& job = jobs.emplace_back();
        job.id = id;
        job.options = std::move(options);
        return job;
    };
    add("a", shared).waited_s = 40;
    add("b", shared).waited_s = 30;
    add("c", {{0, 1, 90}, {1, 1, 400}}).waited_s = 20;
    add("d", {{1, 1, 50}, {0, 1, 45}}).latest_start_s = 30;
    for (const char* const id : {"g1", "g2"}) {
        WaitingJobView& job = add(id, {{0, 1, 70}, {1, 1, 75}});
        job.gang = "p/g";
        job.gang_size = 2;
    }
    return jobs;
}

std::vector<UnitTypeLoad> types_at(double shadow_price, double load)
{
    return {{.unit_count = 4, .free_units = 2, .shadow_price = shadow_price, .load = load, .releases = {{20, 2}}},
            {.unit_count = 4, .free_units = 3, .shadow_price = 1, .load = load, .releases = {{300, 1}}}};
}

class FilledAgain {
  public:
    explicit FilledAgain(OrderRule rule) : settings_{.rule = rule}, queue_(settings_, std::array<std::int64_t, 2>{4, 4})
    {
        queue_.add_release(0, 20, 2);
        queue_.add_release(1, 300, 1);
    }

    void set_prices(const std::vector<UnitTypeLoad>& types)
    {
        for (std::size_t type = 0; type < types.size(); ++type) {
            queue_.set_shadow_price(type, types[type].shadow_price);
            queue_.set_load(type, types[type].load);
        }
    }

    void fill(const std::vector<WaitingJobView>& jobs)
    {
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const WaitingJobView& job = jobs[i];
            ids_[queue_.add({i, job.options, -job.waited_s, job.fair_load, job.priority, job.latest_start_s, job.gang,
                             job.gang_size})] = job.id;
        }
    }

    void clear()
    {
        for (const auto& [number, id] : ids_)
            queue_.remove(number);
        ids_.clear();
    }

    NamedStarts decide(const std::vector<UnitTypeLoad>& types)
    {
        for (std::size_t type = 0; type < types.size(); ++type)
            queue_.set_free(type, types[type].free_units, types[type].free_for_s);
        NamedStarts starts;
        for (const OrderedStart& start : queue_.decide(0))
            starts.emplace_back(ids_.at(start.job), start.option);
        return starts;
    }

    NamedStarts at_once(const std::vector<WaitingJobView>& jobs, const std::vector<UnitTypeLoad>& types) const
    {
        NamedStarts starts;
        for (const OrderedStart& start : order_starts(jobs, types, settings_))
            starts.emplace_back(jobs[start.job].id, start.option);
        return starts;
    }

  private:
    OrderSettings settings_;
    WaitQueue queue_;
    std::map<std::size_t, std::string> ids_; ///< by number in the queue
};

class WaitQueueRules : public testing::TestWithParam<OrderRule> {};

// Whoever waited first under the old prices left nothing behind, and what came before the new prices were known is
// weighed by them as well.
TEST_P(WaitQueueRules, FilledAgainAtOtherPricesDecidesAsANewOne)
{
    const std::vector<WaitingJobView> jobs = some_jobs();
    FilledAgain queue(GetParam());
    for (const double shadow_price : {1.0, 8.0, 0.125, 1.0}) {
        for (const double load : {1.0, 0.25, 0.75}) {
            const std::vector<UnitTypeLoad> types = types_at(shadow_price, load);
            const NamedStarts expected = queue.at_once(jobs, types);
            EXPECT_FALSE(expected.empty());

            queue.set_prices(types);
            queue.fill(jobs);
            EXPECT_THAT(queue.decide(types), ElementsAreArray(expected)) << shadow_price << " " << load << ", before";
            queue.clear();

            queue.set_prices(types_at(3 * shadow_price, 1 - load));
            queue.fill(jobs);
            queue.set_prices(types);
            EXPECT_THAT(queue.decide(types), ElementsAreArray(expected)) << shadow_price << " " << load << ", after";
            queue.clear();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, WaitQueueRules,
                         testing::Values(OrderRule::kFirstCome, OrderRule::kShortestFirst, OrderRule::kAdvantage,
                                         OrderRule::kMinCostAssignment));

TEST(WaitQueue, OfPricesThatWereSetBeforeAnybodyCameThePlacesDepend)
{
    FilledAgain queue(OrderRule::kAdvantage);
    const std::vector<WaitingJobView> jobs = some_jobs();
    const std::vector<UnitTypeLoad> cheap = types_at(0.125, 1);
    const std::vector<UnitTypeLoad> dear = types_at(8, 1);

    EXPECT_NE(queue.at_once(jobs, cheap), queue.at_once(jobs, dear)) << "else the tests above prove nothing";
}

} // namespace
} // namespace fathom
