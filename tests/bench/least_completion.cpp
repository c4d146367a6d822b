#include "tests/bench/least_completion.hpp"

#include "simulator/world/truth.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace fathom::simulation {
namespace {

/// How long the job runs where it runs shortest.
double shortest_s(const Scenario& scenario, Truth& truth, std::size_t job)
{
    double shortest_s = std::numeric_limits<double>::infinity();
    const Job& facts = scenario.workload.jobs[job];
    for (std::size_t type = 0; type < scenario.network.unit_types.size(); ++type) {
        if (fits(scenario, facts, type))
            shortest_s = std::min(shortest_s, truth.run_s(job, type, facts.unit_count, 0, facts.arrival_s));
    }
    return shortest_s;
}

struct PooledJob {
    double arrival_s{};
    double work_s{}; ///< of all units together
};

/// The sum of the jobs' completion times by shortest remaining time first. @param jobs  by arrival.
double pooled_sum_s(const std::vector<PooledJob>& jobs)
{
    double sum_s = 0;
    double now_s = 0;
    // What is left and when it came, the least first.
    using Left = std::pair<double, double>;
    std::priority_queue<Left, std::vector<Left>, std::greater<>> present;
    for (std::size_t next = 0; next < jobs.size() || !present.empty();) {
        if (present.empty()) now_s = std::max(now_s, jobs[next].arrival_s);
        for (; next < jobs.size() && jobs[next].arrival_s <= now_s; ++next)
            present.emplace(jobs[next].work_s, jobs[next].arrival_s);
        const auto [left_s, arrival_s] = present.top();
        present.pop();
        const double end_s = now_s + left_s;
        if (next < jobs.size() && jobs[next].arrival_s < end_s) {
            present.emplace(end_s - jobs[next].arrival_s, arrival_s);
            now_s = jobs[next].arrival_s;
        } else {
            now_s = end_s;
            sum_s += end_s - arrival_s;
        }
    }
    return sum_s;
}

} // namespace

LeastCompletion least_completion(const Scenario& scenario, std::uint64_t seed)
{
    double units = 0;
    for (const UnitType& type : scenario.network.unit_types)
        units += static_cast<double>(type.unit_count);
    Truth truth(scenario, seed);
    const Workload& workload = scenario.workload;
    std::vector<PooledJob> pooled;
    double alone_s = 0;
    for (std::size_t job = workload.first_counted; job < workload.end_counted; ++job) {
        const double run_s = shortest_s(scenario, truth, job);
        alone_s += run_s;
        pooled.push_back({workload.jobs[job].arrival_s, run_s * workload.jobs[job].unit_count / units});
    }
    const auto counted = static_cast<double>(pooled.size());
    return {alone_s / counted, std::max(pooled_sum_s(pooled), alone_s) / counted};
}

} // namespace fathom::simulation
