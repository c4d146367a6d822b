#include "server/jobs/attempts_service.hpp"

#include "core/base/log.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempt_queues_store.hpp"
#include "server/jobs/attempt_words.hpp"
#include "server/jobs/reported_times.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace fathom::server {
namespace {

/// Pieces are up to 256 KiB: this bounds a statement to some MiB.
constexpr std::size_t kOutputBatch = 16;

Result<void> superseded_or_unknown(OutputFate fate, const AttemptId& attempt)
{
    switch (fate) {
    case OutputFate::kTaken:
        return {};
    case OutputFate::kNotOfCenter:
        return Error{Errc::kNotFound, "this center has no attempt " + attempt.value};
    case OutputFate::kSuperseded:
        return Error{Errc::kUnavailable, "the session is superseded, or its center revoked"};
    }
    return {};
}

Result<std::vector<OutputFate>> write_output(pqxx::work& transaction, const std::vector<NewOutput>& pieces,
                                             std::int64_t most_bytes)
{
    return insert_output(transaction, pieces, most_bytes);
}

/// Attempts that run and end within these reports.
std::unordered_set<AttemptId> attempts_that_end(const std::vector<AttemptReport>& reports)
{
    std::unordered_set<AttemptId> ending;
    if (reports.size() < 2) return ending;
    for (const AttemptReport& report : reports) {
        const auto* ended = std::get_if<link::AttemptEnded>(&report);
        if (ended != nullptr && ended->end.started_at) ending.insert(ended->end.attempt_id);
    }
    return ending;
}

Result<void> acknowledge(pqxx::work& transaction, const ReportedAttempt& reported, const AttemptId& attempt,
                         JobChanges& changes)
{
    const AttemptJob& job = reported.job;
    if (reported.ends) {
        if (!job.is_placed || job.job_state != JobState::kPlaced) return {};
    } else {
        if (!update_to_dispatched(transaction, attempt)) return {};
        if (!update_job_state(transaction, job.job_id, JobState::kDispatched)) return {};
    }
    changes.events.push_back({job.job_id, JobState::kDispatched, "center " + job.center + " has the job",
                              Json{{"attempt_id", attempt.value}}});
    after_commit([id = job.job_id, attempt] {
        log_info("job_dispatched", {{"job_id", id.value}, {"attempt_id", attempt.value}});
    });
    return {};
}

void start_probe(pqxx::work& transaction, ProbeJobObserver& observer, const AttemptJob& job,
                 const link::AttemptStarted& started)
{
    // Units that the center had and did not take are free for others.
    if (update_counted_units(transaction, started)) notify(transaction, "route", "");
    if (!started.able_unit_types.empty()) observer.probe_job_started(transaction, job.job_id, started.able_unit_types);
}

Result<void> start(pqxx::work& transaction, ProbeJobObserver& observer, const ReportedAttempt& reported,
                   const link::AttemptStarted& started, JobChanges& changes)
{
    const AttemptJob& job = reported.job;
    if (!update_to_running(transaction, started)) return {};
    if (job.label == "probe") start_probe(transaction, observer, job, started);
    const bool is_news = reported.ends ? !is_final(job.job_state) && job.job_state != JobState::kRunning
                                       : update_job_started(transaction, job.job_id, started.started_at);
    if (!is_news) return {};
    Json evidence = {{"attempt_id", started.attempt_id.value},
                     {"started_at", format_rfc3339(started.started_at)},
                     {"cpus", started.cpus},
                     {"units", started.units}};
    if (!started.unit_type.empty()) evidence["unit_type"] = started.unit_type;
    if (started.neighbours) evidence["neighbours"] = to_json(*started.neighbours);
    changes.events.push_back(
        {job.job_id, JobState::kRunning, start_cause(job.center, started.neighbours), std::move(evidence)});
    after_commit([id = job.job_id, attempt = started.attempt_id] {
        log_info("job_started", {{"job_id", id.value}, {"attempt_id", attempt.value}});
    });
    return {};
}

Result<void> check_report(const AttemptReport& report)
{
    const auto* started = std::get_if<link::AttemptStarted>(&report);
    if (started == nullptr) return {};
    for (const std::string& name : started->able_unit_types) {
        if (contains_nul(name)) return Error{Errc::kInvalid, "a unit type's name holds a NUL character"};
    }
    return {};
}

AttemptGateway::Reconciliation compare(const std::vector<link::InventoryItem>& inventory,
                                       const std::vector<HeldAttempt>& known)
{
    std::unordered_map<AttemptId, bool> is_ended;
    for (const HeldAttempt& attempt : known)
        is_ended[attempt.id] = attempt.is_ended;
    AttemptGateway::Reconciliation answer;
    for (const link::InventoryItem& item : inventory) {
        const auto found = is_ended.find(item.attempt_id);
        // Live here: it goes on, or its report of the end is on its way.
        if (found != is_ended.end() && !found->second) continue;
        (item.state == "running" ? answer.stop : answer.forget).push_back(item.attempt_id);
    }
    return answer;
}

} // namespace

AttemptsService::AttemptsService(const AttemptsParts& parts, std::int64_t most_output_bytes)
    : database_(&parts.database), probes_(&parts.finalizer.observer()),
      ends_(parts.metrics, parts.catalog, parts.finalizer, parts.clock), catalog_(&parts.catalog), clock_(&parts.clock),
      output_(
          parts.database, parts.executor, "job_output", parts.metrics,
          [most_output_bytes](pqxx::work& transaction, std::vector<NewOutput>& pieces) {
              return write_output(transaction, pieces, most_output_bytes);
          },
          kOutputBatch)
{
}

asio::awaitable<Result<AttemptGateway::Reconciliation>>
AttemptsService::reconcile(Reporter reporter, std::vector<link::InventoryItem> inventory)
{
    auto work = [this, reporter, inventory = std::move(inventory)](pqxx::work& transaction) -> Result<Reconciliation> {
        if (const Result<void> current = check_reporter(transaction, reporter); !current) return current.error();
        const CenterId& center = reporter.center_id;
        std::vector<std::string> held;
        for (const link::InventoryItem& item : inventory)
            held.push_back(item.attempt_id.value);
        JobChanges changes;
        if (const Result<void> ended = end_missing(transaction, center, held, changes); !ended) return ended.error();
        record_job_changes(transaction, changes);
        return compare(inventory, select_attempts(transaction, center, held));
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

Result<void> AttemptsService::end_missing(pqxx::work& transaction, const CenterId& center,
                                          const std::vector<std::string>& held, JobChanges& changes) const
{
    const std::vector<AttemptId> missing = select_missing_attempts(transaction, center, held);
    for (const AttemptId& attempt : missing) {
        const Result<AttemptJob> job = lock_attempt_job(transaction, attempt, center);
        if (!job) continue;
        AttemptEnd end;
        end.attempt_id = attempt;
        end.ended_at = clock_->now();
        if (job->is_cancel_requested) {
            end.outcome = AttemptOutcome::kCancelled;
            end.detail = "center " + job->center + " does not hold it";
        } else {
            end.outcome = AttemptOutcome::kLost;
            end.detail = "center " + job->center + " came back without it";
        }
        if (const Result<void> done = ends_.close(transaction, *job, end, changes); !done) return done;
    }
    return {};
}

asio::awaitable<Result<AttemptGateway::PendingOrders>>
AttemptsService::pending_orders(Reporter reporter, std::vector<std::string> on_their_way, std::int64_t room_bytes)
{
    auto work = [this, reporter, limit = OrderLimit{std::move(on_their_way), room_bytes}](
                    pqxx::work& transaction) -> Result<PendingOrders> {
        if (const Result<void> current = check_reporter(transaction, reporter); !current) return current.error();
        const CenterId& center = reporter.center_id;
        PendingOrders pending;
        ClaimedOrders claimed = claim_orders(transaction, center, limit, *catalog_->get());
        pending.has_more = claimed.has_more;
        for (AttemptOrder& order : claimed.orders)
            pending.bodies.emplace_back(link::StartAttempt{std::move(order)});
        JobChanges changes;
        for (const UnreadableOrder& order : claimed.unreadable) {
            const Result<void> ended = end_unreadable(transaction, center, order, changes);
            if (!ended) return ended.error();
        }
        record_job_changes(transaction, changes);
        for (UnwantedAttempt& attempt : select_unwanted_attempts(transaction, center))
            pending.bodies.push_back(
                attempt.is_cancelled
                    ? link::Body(link::CancelAttempt{std::move(attempt.id), "the job was cancelled"})
                    : link::RecallAttempt{std::move(attempt.id), "its unit did not become free when expected"});
        return pending;
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<std::vector<CenterId>>> AttemptsService::centers_with_orders(std::string replica)
{
    auto work = [replica = std::move(replica)](pqxx::work& transaction) -> Result<std::vector<CenterId>> {
        return select_centers_with_orders(transaction, replica);
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

Result<void> AttemptsService::end_unreadable(pqxx::work& transaction, const CenterId& center,
                                             const UnreadableOrder& order, JobChanges& changes) const
{
    const Result<AttemptJob> job = lock_attempt_job(transaction, order.attempt_id, center);
    if (!job) return {};
    const bool is_readable = order.error.code == Errc::kInfeasible; // but the center cannot do what it says
    if (!is_readable)
        log_after_commit(
            LogLevel::kError, "job_unreadable",
            {{"job_id", job->job_id.value}, {"attempt_id", order.attempt_id.value}, {"error", describe(order.error)}});
    AttemptEnd end;
    end.attempt_id = order.attempt_id;
    end.outcome = AttemptOutcome::kFailedToStart;
    end.cause = order.cause;
    end.detail = is_readable ? order.error.detail : "its specification cannot be read: " + describe(order.error);
    end.ended_at = clock_->now();
    return ends_.close(transaction, *job, end, changes);
}

asio::awaitable<std::vector<Result<void>>> AttemptsService::take_reports(Reporter reporter,
                                                                         std::vector<AttemptReport> reports)
{
    Answers answers;
    if (reports.size() == 1) {
        answers.push_back(co_await take_alone(std::move(reporter), std::move(reports.front())));
        co_return answers;
    }
    const auto all = std::make_shared<std::vector<AttemptReport>>(std::move(reports));
    auto work = [this, reporter, all](pqxx::work& transaction) { return take_all(transaction, reporter, *all); };
    Result<Answers> taken = co_await database_->run(std::move(work), DatabaseLine::kVital);
    if (taken) co_return std::move(*taken);
    const bool is_content = taken.error().code != Errc::kUnavailable && taken.error().code != Errc::kDeadline;
    for (AttemptReport& report : *all) {
        if (is_content)
            answers.push_back(co_await take_alone(reporter, std::move(report)));
        else
            answers.emplace_back(taken.error());
    }
    co_return answers;
}

asio::awaitable<Result<void>> AttemptsService::take_alone(Reporter reporter, AttemptReport report)
{
    const auto one = std::make_shared<std::vector<AttemptReport>>();
    one->push_back(std::move(report));
    auto work = [this, reporter, one](pqxx::work& transaction) { return take_all(transaction, reporter, *one); };
    Result<Answers> taken = co_await database_->run(work, DatabaseLine::kVital);
    auto* const ended = std::get_if<link::AttemptEnded>(&one->front());
    if (!taken && taken.error().code == Errc::kInternal && ended != nullptr) {
        // Something in the report cannot be stored. That the attempt has ended is what matters.
        log_error("attempt_end_not_stored",
                  {{"attempt_id", ended->end.attempt_id.value}, {"error", describe(taken.error())}});
        ended->end.profile = nullptr;
        ended->end.detail = "the center's report of its end could not be stored";
        taken = co_await database_->run(work, DatabaseLine::kVital);
    }
    if (!taken) co_return taken.error();
    co_return taken->front();
}

Result<AttemptsService::Answers> AttemptsService::take_all(pqxx::work& transaction, const Reporter& reporter,
                                                           const std::vector<AttemptReport>& reports) const
{
    if (reports.size() > 1) {
        std::vector<std::string> attempts;
        for (const AttemptReport& report : reports)
            attempts.push_back(attempt_of(report).value);
        lock_jobs_of_attempts(transaction, attempts, reporter.center_id);
    }
    const std::unordered_set<AttemptId> ending = attempts_that_end(reports);
    std::unordered_map<AttemptId, AttemptJob> locked;
    JobChanges changes;
    Answers answers;
    for (const AttemptReport& report : reports) {
        if (Result<void> good = check_report(report); !good) {
            answers.push_back(std::move(good));
            continue;
        }
        const AttemptId& attempt = attempt_of(report);
        auto job = locked.find(attempt);
        if (job == locked.end()) {
            Result<AttemptJob> found = lock_attempt_job(transaction, attempt, reporter);
            if (!found) {
                answers.emplace_back(found.error());
                continue;
            }
            job = locked.emplace(attempt, std::move(*found)).first;
        }
        const ReportedAttempt reported{job->second, ending.contains(attempt)};
        if (const Result<void> done = carry_out(transaction, reported, report, changes); !done) return done.error();
        // Where the attempt's row says more than it did, it is read again.
        const bool is_ack = std::holds_alternative<StartAcknowledged>(report);
        if (!is_ack && (job->second.label == "probe" || !reported.ends))
            locked.erase(job);
        else
            job->second.is_placed = false;
        answers.emplace_back();
    }
    record_job_changes(transaction, changes);
    return answers;
}

Result<void> AttemptsService::carry_out(pqxx::work& transaction, const ReportedAttempt& reported,
                                        const AttemptReport& report, JobChanges& changes) const
{
    const AttemptJob& job = reported.job;
    if (const auto* said = std::get_if<link::AttemptStarted>(&report)) {
        link::AttemptStarted started = *said;
        started.started_at = within_attempt(started.started_at, job, clock_->now());
        return start(transaction, *probes_, reported, started, changes);
    }
    if (const auto* ended = std::get_if<link::AttemptEnded>(&report)) {
        AttemptEnd end = ended->end;
        limit_run(end, job);
        limit_times(end, job, clock_->now());
        return ends_.close(transaction, job, end, changes);
    }
    const auto& [attempt, refusal] = std::get<StartAcknowledged>(report);
    if (!refusal) return acknowledge(transaction, reported, attempt, changes);
    AttemptEnd end;
    end.attempt_id = attempt;
    end.outcome = AttemptOutcome::kFailedToStart;
    end.detail = "center " + job.center + " refused it: " + describe(*refusal);
    end.ended_at = clock_->now();
    return ends_.close(transaction, job, end, changes);
}

asio::awaitable<Result<void>> AttemptsService::attempt_output(Reporter reporter, link::AttemptOutput output)
{
    const AttemptId attempt = output.attempt_id;
    NewOutput piece{std::move(reporter), std::move(output)};
    const Result<OutputFate> fate = co_await output_.add(std::move(piece));
    if (!fate) co_return fate.error();
    co_return superseded_or_unknown(*fate, attempt);
}

asio::awaitable<Result<void>> AttemptsService::note_queues(Reporter reporter, link::QueueReport report,
                                                           CatalogNotice notice)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (const Result<void> current = check_reporter(transaction, reporter); !current) return current;
        upsert_attempt_queues(transaction, reporter.center_id, report.attempts);
        if (report.unit_types.empty()) return {};
        upsert_type_queues(transaction, reporter.center_id, report.unit_types);
        if (notice == CatalogNotice::kNow) notify(transaction, "catalog", reporter.center_id.value);
        return {};
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

} // namespace fathom::server
