#include "server/jobs/job_periodic_tasks.hpp"

#include "core/base/log.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempt_orders_store.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/jobs/job_requeue.hpp"
#include "server/jobs/jobs_store.hpp"
#include "server/store/log_after_commit.hpp"

#include <array>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 5s;
constexpr int kCountingShare = 100; // counting takes at most one part in so many of the time

/// An order that was never sent can go elsewhere; one that was sent may be running, and must not run twice, unless its
/// owner lets it. Should the center come back, it is told to stop what has ended here.
NewJobEvent lose_or_requeue(pqxx::work& transaction, const AffectedJob& job, Timestamp now)
{
    if (job.is_sent && !job.may_requeue) {
        update_job_state(transaction, job.job_id, JobState::kLost);
        NewJobEvent event;
        event.job_id = job.job_id;
        event.state = JobState::kLost;
        event.cause = "center " + job.center + " is silent past its limit: the job goes on when it reports again";
        event.evidence = {{"attempt_id", job.attempt_id.value}, {"center", job.center}};
        return event;
    }
    AttemptEnd end;
    end.attempt_id = job.attempt_id;
    end.outcome = AttemptOutcome::kLost;
    end.detail = (job.is_sent ? "center " : "never sent: center ") + job.center + " was lost";
    end.ended_at = now;
    update_to_ended(transaction, end, job.is_sent ? std::nullopt : std::optional<double>(0), std::nullopt);
    return requeue_job(transaction, job.job_id, job.attempt_id, job.center,
                       "center " + job.center +
                           (job.is_sent ? " is silent past its limit" : " was lost before it got the job"));
}

NewJobEvent give_back(pqxx::work& transaction, const AffectedJob& job)
{
    NewJobEvent event;
    event.job_id = job.job_id;
    event.state = parse_job_state(job.attempt_state).value_or(JobState::kPlaced);
    event.cause = "center " + job.center + " reports again";
    event.evidence = {{"attempt_id", job.attempt_id.value}, {"center", job.center}};
    update_job_state(transaction, job.job_id, event.state);
    return event;
}

Result<std::int64_t> move_jobs(pqxx::work& transaction, Timestamp now)
{
    std::vector<NewJobEvent> events;
    for (const AffectedJob& job : lock_jobs_of_lost_centers(transaction))
        events.push_back(lose_or_requeue(transaction, job, now));
    for (const AffectedJob& job : lock_jobs_of_returned_centers(transaction))
        events.push_back(give_back(transaction, job));
    for (const NewJobEvent& event : events)
        log_after_commit(LogLevel::kWarning, "job_follows_center",
                         {{"job_id", event.job_id.value}, {"state", to_string(event.state)}});
    record_job_events(transaction, events);
    if (!events.empty()) notify(transaction, "route", "");
    for (const CenterId& center : select_centers_to_recall_from(transaction))
        notify(transaction, "dispatch", center.value);
    return static_cast<std::int64_t>(events.size());
}

} // namespace

JobPeriodicTasks::JobPeriodicTasks(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                                   const Clock& clock)
    : database_(&database), metrics_(&metrics), clock_(&clock), wake_(executor)
{
}

void JobPeriodicTasks::subscribe(Notifier& notifier)
{
    notifier.subscribe("catalog", [this](const std::string&) { wake_.wake(); });
}

void JobPeriodicTasks::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "job_periodic_tasks", [this] { return follow(); });
}

asio::awaitable<void> JobPeriodicTasks::follow()
{
    for (;;) {
        const Result<std::int64_t> moved = co_await follow_centers();
        if (!moved) log_warning("job_periodic_task_failed", {{"error", describe(moved.error())}});
        const auto began = std::chrono::steady_clock::now();
        if (began >= next_count_) {
            const Result<void> gauges = co_await set_gauges();
            if (!gauges) log_debug("job_gauges_failed", {{"error", describe(gauges.error())}});
            const auto ended = std::chrono::steady_clock::now();
            // It takes longer the more jobs wait.
            next_count_ = ended + kCountingShare * (ended - began);
        }
        // Probes wake "catalog" often: a look now and then is enough.
        co_await net::TaskGroup::sleep(500ms);
        co_await wake_.wait(kLookEvery);
    }
}

asio::awaitable<Result<std::int64_t>> JobPeriodicTasks::follow_centers()
{
    auto work = [now = clock_->now()](pqxx::work& transaction) { return move_jobs(transaction, now); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<void>> JobPeriodicTasks::set_gauges()
{
    auto count = [](pqxx::transaction_base& transaction) -> Result<std::vector<JobCount>> {
        return count_open_jobs(transaction);
    };
    const Result<std::vector<JobCount>> counts = co_await database_->run_statement(count);
    if (!counts) co_return counts.error();
    constexpr std::array open_states{"queued", "metering", "placed", "dispatched", "running", "lost"};
    for (const char* state : open_states) {
        double value = 0;
        for (const JobCount& one : *counts)
            if (one.state == state) value = static_cast<double>(one.count);
        metrics_->set("fathom_jobs", "Jobs that have not ended, by state.", value, {{"state", state}});
    }
    co_return Result<void>();
}

} // namespace fathom::server
