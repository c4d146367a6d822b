#include "server/jobs/attempt_finalizer.hpp"

#include "server/job_types/job_work.hpp"
#include "server/jobs/attempt_orders_store.hpp"
#include "server/jobs/attempt_words.hpp"
#include "server/jobs/gpu_need_store.hpp"
#include "server/jobs/gpu_sharing_store.hpp"
#include "server/jobs/job_parts_end.hpp"
#include "server/jobs/job_requeue.hpp"
#include "server/jobs/operator_outcome_store.hpp"
#include "server/routing/output_inputs.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/savepoint.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <array>
#include <chrono>

namespace fathom::server {
namespace {

/// After so long a type that was only told its operators looks again whether its jobs still name the same.
constexpr auto kRelearnInterval = std::chrono::hours(1);

/// How long the program itself ran, where that is less than its units were held: without what its profiler did, and
/// without staging. Both figures are the job's user's to forge: of his own jobs' times, not of what they cost. Where
/// the prediction has the time of transfers in it, so has what it is compared with.
std::optional<double> program_s_of(const AttemptJob& job, const AttemptEnd& end)
{
    if (const std::optional<double> profiled_s = program_run_s(end.profile, end.run_s)) return profiled_s;
    if (!end.staging || job.moves_data) return std::nullopt;
    return std::max(0.0, end.run_s - end.staging->both_s());
}

/// Whether its center has local users for some users of the network, and none for whose job it is.
bool is_refused_for_owner(const AttemptEnd& end)
{
    return end.outcome == AttemptOutcome::kFailedToStart && end.cause == AttemptCause::kNoLocalUser;
}

/// By the prices that are in force now; nothing where nobody pays, as what failed or was taken away at its center.
/// Empty when nobody knows how long it ran, or what its units cost because they have left the catalog.
std::optional<double> cost_of(const CatalogSnapshot& catalog, const AttemptJob& job, const AttemptEnd& end)
{
    if (end.outcome == AttemptOutcome::kLost) return std::nullopt;
    if (!end.started_at || is_centers_doing(end.outcome)) return 0;
    const UnitTypeView* const view = catalog.find_unit_type(job.unit_type_id.value);
    if (view == nullptr) return std::nullopt;
    return view->price ? view->price->cost(*end.started_at, end.run_s, job.unit_count) : 0;
}

/// A histogram of |ln(actual / predicted)| whose bounds people can read; counted once the end is committed. The metrics
/// must outlive that.
void count_error(Metrics& metrics, double predicted_s, double actual_s)
{
    if (!(actual_s > 0)) return;
    constexpr std::array<std::pair<double, const char*>, 6> bounds{
        {{1.05, "1.05"}, {1.1, "1.1"}, {1.25, "1.25"}, {1.5, "1.5"}, {2, "2"}, {4, "4"}}};
    const double ratio = std::max(actual_s / predicted_s, predicted_s / actual_s);
    const auto found = std::find_if(bounds.begin(), bounds.end(), [=](const auto& one) { return ratio <= one.first; });
    after_commit([&metrics, off_by = found == bounds.end() ? "more" : found->second] {
        metrics.count("fathom_run_predictions_total",
                      "Jobs that ended well, by how many times their run time differed from the prediction at most.",
                      {{"off_by", off_by}});
    });
}

/// Its center looks for orders now and then, and now at once.
void wake_next_probe(pqxx::work& transaction, const AttemptId& ended)
{
    const std::optional<CenterId> center = select_center_of_next_probe(transaction, ended);
    if (center) notify(transaction, "dispatch", center->value);
}

EndedJob ended_job(const AttemptJob& job, const AttemptEnd& end, const JobEnding& ending,
                   std::optional<double> program_s)
{
    EndedJob ended;
    ended.id = job.job_id;
    ended.state = ending.state;
    ended.reason = ending.reason;
    ended.exit_code = end.exit_code;
    ended.started_at = end.started_at;
    ended.ended_at = end.ended_at;
    ended.outcome = end.outcome;
    if (end.started_at) ended.run_s = program_s.value_or(end.run_s);
    return ended;
}

Json evidence_of(const AttemptJob& job, const AttemptEnd& end)
{
    return {{"outcome", to_string(end.outcome)},
            {"run_s", end.run_s},
            {"cpu_s", end.cpu_s},
            {"max_resident_bytes", end.max_resident_bytes},
            {"detail", end.detail},
            {"center", job.center}};
}

} // namespace

Result<void> AttemptFinalizer::close(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                                     JobChanges& changes) const
{
    const std::optional<double> cost = job.label == "job" ? cost_of(*catalog_->get(), job, end) : std::nullopt;
    // Units are held, and paid for, as long as staging and the profiler need them; the job's time is its program's.
    const std::optional<double> program_s = program_s_of(job, end);
    const EndedAttemptRow row = update_to_ended(transaction, end, cost, program_s);
    if (!row.is_first) {
        insert_late_end(transaction, end);
        return jobs_->note_late_end(transaction, job.job_id, job.label, end);
    }
    if (job.label == "probe") wake_next_probe(transaction, end.attempt_id);
    const bool is_good = end.outcome == AttemptOutcome::kExited && end.exit_code == 0;
    if (row.predicted_s > 0 && is_good) count_error(*metrics_, row.predicted_s, program_s.value_or(end.run_s));
    if (is_good && job.takes_outputs) insert_kept_outputs(transaction, end.attempt_id);
    if (is_good && job.label == "job" && !job.is_part) learn_sharing(transaction, job, end.attempt_id);
    if (const std::optional<std::string> why = requeue_reason(transaction, job, end)) {
        changes.events.push_back(requeue_job(transaction, job.job_id, end.attempt_id, job.center, *why));
        changes.wakes_router = true;
        return {};
    }
    JobEnding ending = ending_of(end, job.wall_limit_s);
    queue_learning(transaction, job, end, ending.state);
    std::optional<double> run_s = program_s;
    if (job.is_part) {
        EndedPart part = end_part(transaction, job, end, program_s.value_or(end.run_s), cost, std::move(ending));
        if (part.goes_on) {
            changes.events.push_back(std::move(*part.goes_on));
            changes.wakes_router = true;
            return {};
        }
        ending = std::move(part.ending);
        run_s = part.run_s;
    }
    return jobs_->close(transaction, ended_job(job, end, ending, run_s), job.label, end.attempt_id,
                        evidence_of(job, end), changes);
}

std::optional<std::string> AttemptFinalizer::requeue_reason(pqxx::work& transaction, const AttemptJob& job,
                                                            const AttemptEnd& end) const
{
    // Nobody cancelled the job: it was called back before it had started.
    const bool is_recalled = end.outcome == AttemptOutcome::kCancelled && !end.started_at && !job.is_cancel_requested;
    if (is_recalled) return "called back: " + end.detail;
    if (is_centers_doing(end.outcome) && job.may_requeue) return requeue_cause(end);
    if (is_refused_for_owner(end) && has_other_place(transaction, job, end.attempt_id, *catalog_->get()))
        return ending_of(end, job.wall_limit_s).reason;
    return std::nullopt;
}

void AttemptFinalizer::learn_sharing(pqxx::work& transaction, const AttemptJob& job, const AttemptId& attempt) const
{
    const CatalogPointer catalog = catalog_->get();
    const UnitTypeView* const view = catalog->find_unit_type(job.unit_type_id.value);
    if (view == nullptr || view->units_per_device == 1) return;
    // What pairs of jobs teach is worth no job's end. Not pqxx's subtransaction: it begins at an unprepared statement.
    transaction.exec0("SAVEPOINT learn_sharing");
    try {
        keep_gpu_sharing(transaction, attempt, *catalog);
        keep_gpu_need(transaction, attempt);
        transaction.exec0("RELEASE SAVEPOINT learn_sharing");
    } catch (const pqxx::sql_error& e) {
        transaction.exec0("ROLLBACK TO SAVEPOINT learn_sharing");
        log_after_commit(LogLevel::kWarning, "gpu_sharing_not_learned",
                         {{"attempt_id", attempt.value}, {"error", e.what()}});
    }
}

void AttemptFinalizer::learn_operators(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                                       const CatalogSnapshot& catalog) const
{
    // What a job's profile says is worth no job's end.
    const Result<void> kept = in_savepoint(transaction, [&]() -> Result<void> {
        keep_operator_outcomes(transaction, job, end, catalog);
        return {};
    });
    if (kept) return;
    log_after_commit(LogLevel::kWarning, "operator_outcomes_not_kept",
                     {{"attempt_id", end.attempt_id.value}, {"error", describe(kept.error())}});
}

void AttemptFinalizer::queue_learning(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                                      JobState state) const
{
    if (job.label != "job") return;
    const std::string profile = end.profile.is_object() && !contains_nul(end.profile)
                                    ? end.profile.dump(-1, ' ', false, Json::error_handler_t::replace)
                                    : std::string();
    const bool is_profiled = !profile.empty() && profile.size() <= kMaxProfileBytes;
    if (is_profiled) insert_profile(transaction, end.attempt_id, profile);
    if (state != JobState::kSucceeded) return;
    const CatalogPointer catalog = catalog_->get();
    if (is_profiled) learn_operators(transaction, job, end, *catalog);
    // What a part executes is not what the job's type does.
    if (job.job_type.empty() || job.is_part) return;
    // What a job says of itself is old news while its type knows as much: ends of such jobs cost nothing more.
    const KnownJobType* known = catalog->find_own_job_type(job.job_type, {job.submitted_by, job.project});
    const bool is_news = known == nullptr || (!known->profiled && known->learned_at < clock_->now() - kRelearnInterval);
    if (is_profiled || (job.names_operators && is_news)) enqueue_learning(transaction, job.job_id);
}

} // namespace fathom::server
