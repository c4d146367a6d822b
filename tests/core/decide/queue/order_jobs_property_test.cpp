#include "core/decide/queue/order_jobs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace fathom {
namespace {

struct Case {
    std::vector<WaitingJobView> jobs;
    std::vector<UnitTypeLoad> types;
    OrderSettings settings;
};

/// Whole numbers from a seed that rapidcheck draws: many small cases with many equal figures, which find ties.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : generator_(seed) {}
    /// low … high, both included.
    std::int64_t roll(std::int64_t low, std::int64_t high)
    {
        return low + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(high - low + 1));
    }

  private:
    std::mt19937_64 generator_;
};

std::vector<UnitTypeLoad> draw_types(Dice& dice)
{
    std::vector<UnitTypeLoad> types(static_cast<std::size_t>(dice.roll(1, 4)));
    for (UnitTypeLoad& type : types) {
        type.unit_count = dice.roll(1, 8);
        type.free_units = dice.roll(0, type.unit_count);
        type.shadow_price = 0.5 * static_cast<double>(dice.roll(1, 4));
        type.load = 0.25 * static_cast<double>(dice.roll(0, 5));
        if (dice.roll(0, 1) == 1 && type.free_units < type.unit_count)
            type.releases.push_back({100.0 * static_cast<double>(dice.roll(0, 5)), type.unit_count - type.free_units});
    }
    return types;
}

WaitingJobView draw_job(Dice& dice, std::size_t number, std::size_t types)
{
    WaitingJobView job;
    job.id = fmt::format("job_{:03}", number);
    std::vector<JobOption> options;
    for (std::size_t type = 0; type < types; ++type) {
        if (dice.roll(0, 3) > 0)
            options.push_back({type, dice.roll(1, 4), 100.0 * static_cast<double>(dice.roll(1, 4)), 1});
    }
    job.options = std::move(options);
    job.waited_s = 1000.0 * static_cast<double>(dice.roll(0, 10));
    job.priority = 20 * dice.roll(-1, 1);
    return job;
}

Case draw_case(bool with_gangs = true)
{
    Dice dice(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, 1'000'000'000)));
    Case drawn;
    drawn.types = draw_types(dice);
    const auto count = static_cast<std::size_t>(dice.roll(0, 24));
    for (std::size_t i = 0; i < count; ++i) {
        drawn.jobs.push_back(draw_job(dice, i, drawn.types.size()));
        if (!with_gangs || dice.roll(0, 3) > 0) continue;
        drawn.jobs.back().gang = fmt::format("p/{}", dice.roll(0, 2));
        drawn.jobs.back().gang_size = 2;
    }
    const std::array rules{OrderRule::kFirstCome, OrderRule::kShortestFirst, OrderRule::kAdvantage,
                           OrderRule::kMinCostAssignment};
    drawn.settings.rule = rules[static_cast<std::size_t>(dice.roll(0, 3))];
    return drawn;
}

std::map<std::string, std::size_t> started(const Case& drawn)
{
    std::map<std::string, std::size_t> result;
    for (const OrderedStart& start : order_starts(drawn.jobs, drawn.types, drawn.settings))
        result.emplace(drawn.jobs[start.job].id, drawn.jobs[start.job].options[start.option].unit_type);
    return result;
}

std::vector<std::int64_t> left_over(const Case& drawn, const std::vector<OrderedStart>& starts)
{
    std::vector<std::int64_t> free;
    for (const UnitTypeLoad& type : drawn.types)
        free.push_back(type.free_units);
    for (const OrderedStart& start : starts) {
        const JobOption& option = drawn.jobs[start.job].options[start.option];
        free[option.unit_type] -= option.unit_count;
    }
    return free;
}

RC_GTEST_PROP(OrderJobsProperty, NeverMoreThanIsFreeAndEachJobOnce, ())
{
    const Case drawn = draw_case();
    const std::vector<OrderedStart> starts = order_starts(drawn.jobs, drawn.types, drawn.settings);

    std::set<std::size_t> jobs;
    for (const OrderedStart& start : starts)
        RC_ASSERT(jobs.insert(start.job).second);
    for (const std::int64_t free : left_over(drawn, starts))
        RC_ASSERT(free >= 0);
}

RC_GTEST_PROP(OrderJobsProperty, GangsAreWhole, ())
{
    const Case drawn = draw_case();
    std::map<std::string, std::pair<std::size_t, std::size_t>> gangs; // members, started
    for (const WaitingJobView& job : drawn.jobs)
        ++gangs[job.gang].first;
    for (const OrderedStart& start : order_starts(drawn.jobs, drawn.types, drawn.settings))
        ++gangs[drawn.jobs[start.job].gang].second;
    for (const auto& [gang, counts] : gangs) {
        if (!gang.empty()) RC_ASSERT(counts.second == 0 || counts.second == counts.first);
        if (!gang.empty() && counts.first < 2) RC_ASSERT(counts.second == 0u);
    }
}

RC_GTEST_PROP(OrderJobsProperty, TheOrderOfJobsDoesNotMatter, ())
{
    Case drawn = draw_case();
    const auto before = started(drawn);
    std::reverse(drawn.jobs.begin(), drawn.jobs.end());
    RC_ASSERT(started(drawn) == before);
    std::rotate(drawn.jobs.begin(), drawn.jobs.begin() + std::ssize(drawn.jobs) / 2, drawn.jobs.end());
    RC_ASSERT(started(drawn) == before);
}

// Where nothing waits for better places, only units reserved for an overdue job stay free.
RC_GTEST_PROP(OrderJobsProperty, IsWorkConserving, ())
{
    Case drawn = draw_case(/*with_gangs=*/false);
    drawn.settings.starvation_limit_s = 1e9;
    for (UnitTypeLoad& type : drawn.types)
        type.load = 1;
    const std::vector<OrderedStart> starts = order_starts(drawn.jobs, drawn.types, drawn.settings);

    const std::vector<std::int64_t> free = left_over(drawn, starts);
    std::set<std::size_t> jobs;
    for (const OrderedStart& start : starts)
        jobs.insert(start.job);
    for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
        if (jobs.contains(i)) continue;
        for (const JobOption& option : drawn.jobs[i].options)
            RC_ASSERT(option.unit_count > free[option.unit_type]);
    }
}

// A single unit decides most: who is longest beyond its starvation limit and fits gets it.
RC_GTEST_PROP(OrderJobsProperty, BeyondStarvationLimitNobodyIsOvertaken, ())
{
    Case drawn = draw_case(/*with_gangs=*/false);
    drawn.settings.rule = OrderRule::kAdvantage;
    drawn.types.assign(1, {4, 1, 1, 0.5, {}});
    for (WaitingJobView& job : drawn.jobs) {
        if (!job.options.empty()) job.options = {{0, 1, job.options[0].run_s, 1}};
    }
    const auto overdue_s = [&](const WaitingJobView& job) {
        const OrderSettings& settings = drawn.settings;
        return job.waited_s -
               std::max(settings.starvation_limit_s, settings.starvation_limit_factor * job.options[0].run_s);
    };
    const std::vector<OrderedStart> starts = order_starts(drawn.jobs, drawn.types, drawn.settings);
    for (const WaitingJobView& job : drawn.jobs) {
        if (job.options.empty() || overdue_s(job) < 0) continue;
        RC_ASSERT(starts.size() == 1u);
        RC_ASSERT(overdue_s(drawn.jobs[starts[0].job]) >= overdue_s(job));
    }
}

RC_GTEST_PROP(OrderJobsProperty, MorePriorityNeverComesLater, ())
{
    Case drawn = draw_case(/*with_gangs=*/false);
    RC_PRE(!drawn.jobs.empty());
    const auto place = [&](const std::string& id) {
        const std::vector<std::size_t> order = order_waiting(drawn.jobs, drawn.types, drawn.settings);
        return std::find_if(order.begin(), order.end(), [&](std::size_t i) { return drawn.jobs[i].id == id; }) -
               order.begin();
    };
    WaitingJobView& job = drawn.jobs[*rc::gen::inRange<std::size_t>(0, drawn.jobs.size())];
    const std::string id = job.id;
    const auto before = place(id);
    job.priority = std::min<std::int64_t>(100, job.priority + *rc::gen::inRange(0, 100));
    RC_ASSERT(place(id) <= before);
}

} // namespace
} // namespace fathom
