#include "server/routing/arrived_jobs.hpp"

#include "core/decide/unit_worth.hpp"

#include <string_view>
#include <unordered_set>

namespace fathom::server {
namespace {

/// As many as tell what all jobs would (docs/decisions/0004-order-under-load.md).
constexpr std::size_t kRemembered = 1000;
constexpr std::size_t kNewsPerLook = 50;

} // namespace

bool ArrivedJobs::is_new(const std::string& job_id) const
{
    // Jobs that wait for long are forgotten, and seen again: their ids tell.
    if (jobs_.size() >= kRemembered && job_id < jobs_.begin()->first) return false;
    return !jobs_.contains(job_id);
}

void ArrivedJobs::note(const std::string& job_id, std::vector<Place> places)
{
    if (places.empty() || !is_new(job_id)) return;
    jobs_.emplace(job_id, std::move(places));
    if (jobs_.size() > kRemembered) jobs_.erase(jobs_.begin());
    ++news_;
}

std::vector<std::optional<double>> ArrivedJobs::worths(std::span<const UnitTypeView> unit_types)
{
    if (news_ >= kNewsPerLook) take_worths(unit_types);
    std::vector<std::optional<double>> worths(unit_types.size());
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        const auto found = worths_.find(unit_types[i].id.value);
        if (found != worths_.end()) worths[i] = found->second;
    }
    return worths;
}

void ArrivedJobs::take_worths(std::span<const UnitTypeView> unit_types)
{
    news_ = 0;
    std::unordered_set<std::string_view> wanted;
    for (const auto& [id, places] : jobs_) {
        for (const Place& place : places)
            wanted.insert(place.unit_type_id);
    }
    // Large networks have many unit types that none of these jobs can use. What is closed just now counts: it is left
    // out of the places of the jobs that come meanwhile.
    std::unordered_map<std::string_view, std::size_t> index;
    std::vector<UnitTypeLoad> loads;
    for (const UnitTypeView& view : unit_types) {
        if (!wanted.contains(view.id.value)) continue;
        index.emplace(view.id.value, loads.size());
        loads.emplace_back().unit_count = view.unit_count;
    }
    std::vector<std::vector<JobOption>> arrived;
    arrived.reserve(jobs_.size());
    for (const auto& [id, places] : jobs_) {
        std::vector<JobOption>& options = arrived.emplace_back();
        for (const Place& place : places) {
            const auto found = index.find(place.unit_type_id);
            if (found != index.end()) options.push_back({found->second, place.unit_count, place.run_s, 1});
        }
    }
    // Worths do not depend on the time in which the jobs came.
    const std::vector<UnitWorth> taken = unit_worths(arrived, 1, loads);
    worths_.clear();
    for (const auto& [id, type] : index) {
        if (taken[type].load > 0) worths_.emplace(id, taken[type].worth);
    }
}

} // namespace fathom::server
