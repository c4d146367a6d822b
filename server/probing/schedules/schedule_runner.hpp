#pragma once

#include "core/net/task_group.hpp"
#include "server/probing/orders/probing_service.hpp"
#include "server/probing/schedules/schedule_store.hpp"

namespace fathom::server {

/// Queues the probes of schedules whose time has come (M21), and keeps the gauges of probing. Every replica runs it: a
/// schedule is claimed by one of them. The claim ends after a while, so that a replica that dies over it costs a delay
/// and no run; runs that it had queued already are joined.
///
/// A schedule runs once for all the times that nobody was there to run it, and its next time is always later than
/// the one before: a clock that is set back repeats nothing.
/// Thread-safe. All must outlive it.
class ScheduleRunner {
  public:
    ScheduleRunner(Database& database, ProbingService& probing, const Clock& clock, Metrics& metrics)
        : database_(&database), probing_(&probing), clock_(&clock), metrics_(&metrics)
    {
    }

    void start(net::TaskGroup& group, const asio::any_io_executor& executor);

    /// One look; called by the periodic task, and by tests. @return schedules that ran, well or not.
    asio::awaitable<Result<std::int64_t>> run_due();
    /// Sets the gauges of budgets and of waiting probes.
    asio::awaitable<Result<void>> set_gauges();

  private:
    asio::awaitable<void> follow();
    asio::awaitable<Result<void>> run(ProbeSchedule schedule);
    /// Queues the schedule's order. @return what did not work, for people; empty when all did.
    asio::awaitable<std::string> queue_order(ProbeSchedule schedule);

    Database* database_;
    ProbingService* probing_;
    const Clock* clock_;
    Metrics* metrics_;
};

} // namespace fathom::server
