#include "server/routing/cycles/cycle_jobs.hpp"

#include "core/schedule/cycle_plan.hpp"
#include "server/routing/cycles/deflated.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::server {
namespace {

/// What a stored document is read as. Another version wrote one that cannot be: nothing that the caller could mend.
template <class Value>
Result<Value> read_stored(const std::string& stored, Result<Value> (*read)(std::string_view))
{
    const Result<std::string> document = inflated(stored);
    if (!document) return document.error();
    Result<Value> value = read(*document);
    if (!value) return Error{Errc::kConflict, value.error().detail};
    return value;
}

const char* what_it_waits_for(const PlannedJob& planned)
{
    if (planned.waits_for_host) return "host";
    return planned.waits_for_units ? "units" : "other";
}

CycleJob cycle_job_of(const PlannedJob& planned, const ReadyJob& ready)
{
    CycleJob job;
    job.job_id = ready.id;
    job.project = ready.request.project;
    job.is_probe = ready.request.is_probe;
    job.priority = ready.priority;
    job.waited_s = ready.waited_s;
    job.unit_type_id = planned.unit_type_id;
    job.unit_count = planned.unit_count;
    job.start_s = planned.start_s;
    job.run_s = planned.run_s;
    job.completion_s = planned.completion_s;
    if (!planned.is_start) {
        job.waits_for = what_it_waits_for(planned);
        job.priority_rank = planned.priority_rank;
    }
    return job;
}

Json number_or_null(bool is_known, double number)
{
    return is_known ? Json(number) : Json();
}

} // namespace

Result<std::vector<CycleJob>> read_cycle_jobs(const StoredCycle& cycle)
{
    const Result<CycleMoment> moment = read_stored<CycleMoment>(cycle.input, read_cycle);
    if (!moment) return moment.error();
    const Result<PlanRecord> plan = read_stored<PlanRecord>(cycle.plan, read_plan);
    if (!plan) return plan.error();
    const std::vector<ReadyJob>& ready = moment->input.jobs;
    std::vector<CycleJob> jobs;
    for (const PlannedJob& planned : *plan) {
        if (planned.job >= ready.size()) return Error{Errc::kConflict, "the plan is not of this cycle"};
        jobs.push_back(cycle_job_of(planned, ready[planned.job]));
    }
    // A plan has those that start before those that wait.
    const auto waits =
        std::find_if(jobs.begin(), jobs.end(), [](const CycleJob& one) { return !one.waits_for.empty(); });
    std::sort(waits, jobs.end(), [](const CycleJob& a, const CycleJob& b) {
        return std::tie(a.priority_rank, a.job_id) < std::tie(b.priority_rank, b.job_id);
    });
    std::int64_t number = 0;
    for (CycleJob& job : jobs) {
        job.number = ++number;
        if (job.waits_for.empty()) job.position = job.number;
    }
    return jobs;
}

Json to_json(const CycleJob& job)
{
    const bool has_place = !job.unit_type_id.empty();
    const bool waits = !job.waits_for.empty();
    Json json = {{"job_id", job.job_id},
                 {"project", job.project},
                 {"label", job.is_probe ? "probe" : "job"},
                 {"priority", job.priority},
                 {"waited_s", job.waited_s},
                 {"is_start", !waits},
                 {"position", nullptr},
                 {"place", nullptr},
                 {"waits_for", waits ? Json(job.waits_for) : Json()},
                 {"priority_rank", number_or_null(waits, job.priority_rank)}};
    if (job.position) json["position"] = *job.position;
    if (has_place)
        json["place"] = {{"unit_type_id", job.unit_type_id}, {"center", job.center},
                         {"unit_type", job.unit_type},       {"unit_count", job.unit_count},
                         {"start_s", job.start_s},           {"run_s", number_or_null(job.run_s > 0, job.run_s)},
                         {"completion_s", job.completion_s}};
    return json;
}

} // namespace fathom::server
