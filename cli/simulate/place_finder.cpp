#include "cli/simulate/place_finder.hpp"

#include "core/decide/never.hpp"
#include "core/decide/objective.hpp"
#include "core/decide/plan_start.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kHour_s = 3600;

/// A profile that knows the center's rates exactly; none where data is there at once.
std::optional<NetworkProfile> profile_of(const Center& center)
{
    std::vector<NetworkSample> samples;
    for (std::size_t hour = 0; hour < center.network_rate_bytes.size(); ++hour) {
        // An hour is known from its second sample on.
        for (const double week_s : {0.0, 168 * kHour_s})
            samples.push_back(
                {moment_of(week_s + (static_cast<double>(hour) + 0.5) * kHour_s), center.network_rate_bytes[hour]});
    }
    NetworkProfile profile(samples);
    if (!(profile.best_rate_bytes() > 0)) return std::nullopt;
    return profile;
}

bool is_plain(const JobDetails& details)
{
    return !details.deadline_in_s && !details.budget && details.data_in_bytes <= 0 && details.data_out_bytes <= 0 &&
           details.prefer.cost == 0 && details.prefer.energy == 0;
}

double next_hour(double now_s)
{
    return (std::floor(now_s / kHour_s) + 1) * kHour_s;
}

} // namespace

/// A place with all that its owner cares for.
struct PlaceFinder::Plan {
    JobOption option;
    double start_in_s{};
    double completion_s{}; ///< from now
    double judged_s{};     ///< the same, but a wait that its deadline has room for costs nothing
    Outcome outcome;
    bool is_within_budget{};
    bool may_come_within_budget{}; ///< at another time
};

PlaceFinder::PlaceFinder(const Scenario& scenario, Knowledge& knowledge) : scenario_(&scenario), knowledge_(&knowledge)
{
    for (const Center& center : scenario.network.centers)
        networks_.push_back(profile_of(center));
    for (const JobDetails& details : scenario.workload.details)
        is_plain_.push_back(simulation::is_plain(details) ? 1 : 0);
}

bool PlaceFinder::is_plain(std::size_t job) const
{
    return is_plain_[scenario_->workload.jobs[job].details] != 0;
}

JobPlaces PlaceFinder::find(std::size_t job, double now_s, Hold hold)
{
    JobPlaces places;
    if (is_plain(job))
        add_plain(job, places);
    else
        add_planned(job, now_s, hold, places);
    return places;
}

/// Unit types that can run jobs of this kind, whatever their size.
const std::vector<std::uint32_t>& PlaceFinder::types_of(const Job& job)
{
    const auto [entry, is_new] = types_.try_emplace({job.job_type, job.details});
    if (is_new) {
        Job smallest = job;
        smallest.unit_count = 1;
        for (std::uint32_t type = 0; type < scenario_->network.unit_types.size(); ++type) {
            if (fits(*scenario_, smallest, type)) entry->second.push_back(type);
        }
    }
    return entry->second;
}

/// What the job asks for; of a job that may have more, doubled again and again up to the knee of its speed-up, the
/// count of largest S(n)²/n.
const std::vector<std::int64_t>& PlaceFinder::counts_of(std::size_t job, std::size_t unit_type)
{
    const Job& asked = scenario_->workload.jobs[job];
    counts_.assign(1, asked.unit_count);
    const std::int64_t most =
        std::min<std::int64_t>(asked.most_units, scenario_->network.unit_types[unit_type].unit_count);
    if (most <= asked.unit_count) return counts_;
    const auto power = [&](std::int64_t count) {
        const double run_s = knowledge_->expected_s(job, unit_type, count);
        return 1 / (run_s * run_s * static_cast<double>(count));
    };
    std::int64_t knee = asked.unit_count;
    double largest = power(knee);
    for (const std::int64_t count : counts_between(asked.unit_count + 1, most)) {
        const double own = power(count);
        if (own <= largest * (1 + 1e-9)) continue;
        knee = count;
        largest = own;
    }
    for (std::int64_t count = 2 * counts_.front(); count < knee; count *= 2)
        counts_.push_back(count);
    if (knee > counts_.front()) counts_.push_back(knee);
    return counts_;
}

void PlaceFinder::add_plain(std::size_t job, JobPlaces& places)
{
    const Job& asked = scenario_->workload.jobs[job];
    const std::vector<std::uint32_t>& types = types_of(asked);
    places.options.reserve(types.size());
    for (const std::uint32_t type : types) {
        const UnitType& unit_type = scenario_->network.unit_types[type];
        if (asked.unit_count > unit_type.unit_count) continue;
        const double start_up_s = scenario_->network.centers[unit_type.center].start_up_s;
        if (asked.most_units <= asked.unit_count) {
            places.options.push_back(
                {type, asked.unit_count, start_up_s + knowledge_->expected_s(job, type, asked.unit_count), 1});
            continue;
        }
        for (const std::int64_t count : counts_of(job, type))
            places.options.push_back({type, count, start_up_s + knowledge_->expected_s(job, type, count), 1});
    }
    places.is_hopeless = places.options.empty();
}

std::optional<PlaceFinder::Plan> PlaceFinder::plan(std::size_t job, std::size_t unit_type, std::int64_t unit_count,
                                                   double now_s, Hold hold)
{
    const Job& asked = scenario_->workload.jobs[job];
    const JobDetails& details = scenario_->workload.details[asked.details];
    const UnitType& type = scenario_->network.unit_types[unit_type];
    const double run_s =
        scenario_->network.centers[type.center].start_up_s + knowledge_->expected_s(job, unit_type, unit_count);
    TransferRequest request;
    request.in_bytes = details.data_in_bytes;
    request.out_bytes = details.data_out_bytes;
    request.now = moment_of(now_s);
    if (hold == Hold::kOver) request.network = NetworkChoice::kNow;
    const double left_s = details.deadline_in_s ? asked.arrival_s + *details.deadline_in_s - now_s : kNever;
    if (details.deadline_in_s) request.deadline = moment_after(request.now, left_s);
    const StartTerms terms{
        .price = &type.price, .unit_count = unit_count, .prefer = details.prefer, .budget = details.budget};
    const std::optional<NetworkProfile>& network = networks_[type.center];
    const StartPlan start = plan_start(request, network ? &*network : nullptr, 0, {run_s, run_s, run_s}, terms);
    if (start.completion_s > left_s) return std::nullopt;

    const double held_s = start.occupied.run_s;
    const double cost = type.price.cost(moment_after(request.now, start.start_s), held_s, unit_count);
    const double limit = budget_limit(details.budget);
    const bool waits_for_free = start.window && !start.window->is_for_price;
    const double judged_s = waits_for_free ? held_s : start.completion_s;
    return Plan{.option = {unit_type, unit_count, held_s, 1},
                .start_in_s = start.start_s,
                .completion_s = start.completion_s,
                .judged_s = judged_s,
                .outcome = {judged_s, cost, type.price.energy_j(held_s, unit_count)},
                .is_within_budget = cost <= limit,
                .may_come_within_budget = type.price.least_cost(run_s, unit_count) <= limit};
}

void PlaceFinder::add_planned(std::size_t job, double now_s, Hold hold, JobPlaces& places)
{
    const Job& asked = scenario_->workload.jobs[job];
    const JobDetails& details = scenario_->workload.details[asked.details];
    const double left_s = details.deadline_in_s ? asked.arrival_s + *details.deadline_in_s - now_s : kNever;
    std::vector<Plan> plans;
    places.is_hopeless = true;
    for (const std::uint32_t type : types_of(asked)) {
        if (asked.unit_count > scenario_->network.unit_types[type].unit_count) continue;
        for (const std::int64_t count : std::vector(counts_of(job, type))) {
            const std::optional<Plan> one = plan(job, type, count, now_s, hold);
            if (!one) continue;
            places.is_hopeless = places.is_hopeless && !one->may_come_within_budget;
            if (one->is_within_budget) plans.push_back(*one);
        }
    }
    // Prices and networks change by the hour.
    places.valid_until_s = next_hour(now_s);
    const auto value = [&](const Plan& one) { return objective(details.prefer, one.outcome); };
    const auto best =
        std::min_element(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) { return value(a) < value(b); });
    if (best == plans.end()) return;
    if (best->start_in_s > 0) {
        places.hold_until_s = now_s + best->start_in_s;
        return;
    }
    const double best_value = value(*best);
    const bool is_about_time = details.prefer.cost == 0 && details.prefer.energy == 0;
    double shortest_s = kNever;
    for (Plan& one : plans) {
        if (one.start_in_s > 0) continue;
        if (!is_about_time) one.option.regret = value(one) / best_value;
        shortest_s = std::min(shortest_s, one.option.run_s);
        places.valid_until_s = std::min(places.valid_until_s, now_s + left_s - one.completion_s);
        places.options.push_back(one.option);
    }
    places.latest_start_s = now_s + left_s - shortest_s;
}

} // namespace fathom::simulation
