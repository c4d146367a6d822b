#include "server/probing/probe_planning.hpp"

#include "core/base/log.hpp"
#include "core/decide/generate_task.hpp"
#include "server/centers/unit_type_directory.hpp"
#include "server/probing/check_result.hpp"
#include "server/probing/run_queue.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

constexpr const char* kActor = "fathom";
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestReason = 4000;

/// Long texts are for the log; a row needs the gist. Cut where a character begins.
std::string shorten(std::string text)
{
    if (text.size() <= kLongestReason) return text;
    std::size_t end = kLongestReason;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    text.resize(end);
    return text;
}

} // namespace

Result<std::vector<ProbeRunId>> ProbePlanning::request_probes(pqxx::work& transaction, const std::string& job_type,
                                                              const std::vector<OperatorUse>& operators,
                                                              const std::vector<UnitTypeId>& unit_types)
{
    if (operators.empty()) return Error{Errc::kInvalid, "a job without operators has no probe task"};
    std::vector<FieldError> errors;
    const OperatorLibraryPointer library = operators_->library();
    const std::vector<OperatorUse> resolved = library->resolve(operators, "operators", errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the job's operators are not in the library", std::move(errors)};

    NewProbeTask task;
    task.job_type = job_type;
    task.origin = "job";
    const auto manifests = [&](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    task.document = generate_probe_tasks(job_type.substr(0, kLongestName), resolved, manifests).front();
    task.created_by = kActor;
    const FoundTask found = find_or_insert_task(transaction, task);

    const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
    std::vector<ProbeRunId> runs;
    for (const UnitTypeId& unit_type : unit_types) {
        const UnitTypeOffer* offer = find_offer(offers, unit_type.value);
        if (offer == nullptr) continue; // gone since the router looked
        const RunPlace place{.unit_type_id = offer->id,
                             .center_id = offer->center_id,
                             .unit_count = 1,
                             .selection = "catalog",
                             .cause = "arrival",
                             .created_by = kActor};
        const Result<ProbeRunId> run = queue_run(transaction, *writer_, found.record, place);
        if (!run) return run.error();
        runs.push_back(*run);
    }
    return runs;
}

Result<bool> ProbePlanning::probes_pending(pqxx::work& transaction, const std::string& job_type)
{
    return has_queued_run(transaction, job_type);
}

Result<void> ProbeResults::probe_job_ended(pqxx::work& transaction, const JobId& job, bool succeeded,
                                           const std::string& reason, const std::string& stdout_text)
{
    const std::optional<EndingRun> run = lock_run_of_job(transaction, job);
    if (!run || !run->queued) return {};
    // Jobs that wait for this run go on, whatever came of it.
    notify(transaction, "route", "");
    if (!succeeded) {
        end_run(transaction, run->id, run->job_cancelled ? "cancelled" : "failed", shorten(reason));
        return {};
    }
    const Result<ProbeResult> result =
        read_probe_result(stdout_text, run->task, run->unit_count, *operators_->library());
    if (!result) {
        const std::string error = "not a result of this task: " + describe(result.error());
        log_warning("probe_result_refused", {{"probe_run_id", run->id.value}, {"job_id", job.value}, {"error", error}});
        end_run(transaction, run->id, "failed", shorten(error));
        return {};
    }
    store_result(transaction, *run, *result);
    notify(transaction, "catalog", run->center_id.value);
    return {};
}

} // namespace fathom::server
