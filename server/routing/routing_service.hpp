#pragma once

#include "core/base/clock.hpp"
#include "server/events/wake_signal.hpp"
#include "server/routing/batch/scheduling_batch.hpp"
#include "server/routing/unit_loads.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace fathom::server {

/// What the router works with; all outlive it.
struct RouterParts {
    Database& database;
    Metrics& metrics;
    const Clock& clock;
    CatalogCache& catalog;
    const UnitLoadService& loads;
    ProbePlanner& planner;
    WaitingJobTerminator& terminator;
};

/// The router: moves waiting jobs to places. Each replica runs this loop, and leaves to the others what they decide on.
///
/// A cycle looks at waiting jobs in order of priority rank, batch by batch; it decides on a thread of its own, outside
/// of any transaction (SchedulingBatch). It runs on wake-ups "route" (those of new jobs only while some unit is free)
/// and "catalog", and every two seconds (a tick), which also refreshes the reasons that jobs wait for, and comes early
/// when a network window opens that a job waits for. Where many jobs wait, these cycles come less often: they take a
/// quarter of the router's time at most. What becomes free meanwhile goes to the first in line, between two of them and
/// between two of their batches. When more jobs wait than a cycle can look at, its first half starts at the first and
/// its second half goes on where the last cycle ended: jobs that wait for one center cannot hide those for another for
/// ever. Runs on: one coroutine at a time.
class RoutingService {
  public:
    RoutingService(const asio::any_io_executor& executor, const RouterParts& parts, RoutingSettings settings);

    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    void start(net::TaskGroup& group);

    /// kFirst: only the first in line are looked at.
    enum class Wake { kFirst, kWoken, kTick };
    /// One cycle; called by the loop, and by tests. Returns how many jobs were placed.
    asio::awaitable<Result<std::int64_t>> run_cycle(Wake kind);

  private:
    asio::awaitable<void> follow();
    /// Batch by batch: a cycle of any kind but kFirst.
    asio::awaitable<Result<std::int64_t>> go_through_line(Wake kind);
    /// What became free goes to the first in line.
    asio::awaitable<Result<BatchReport>> place_first();
    BatchTools batch_tools();
    asio::awaitable<Result<BatchReport>> run_batch(CycleCursor state, std::int64_t limit);
    /// Makes what is kept of a newer catalog before a transaction is open: in a large network that takes a while.
    asio::awaitable<Result<void>> prepare_columns();
    /// After a batch failed: job by job, so that one that cannot be routed does not stop the others.
    asio::awaitable<Result<BatchReport>> run_batch_singly(CycleCursor state);
    void note_batch(const Result<BatchReport>& report);
    void observe(const BatchReport& report);

    Database* database_;
    const Clock* clock_;
    CatalogCache* catalog_;
    const UnitLoadService* loads_;
    ProbePlanner* planner_;
    WaitingJobTerminator* terminator_;
    const RoutingSettings settings_;
    WakeSignal wake_;
    ColumnsOfCatalog columns_;
    ProjectUses uses_;
    CycleLedger ledger_; ///< of the cycle that runs
    ComputePool planning_{{.threads = 1}};
    LinePlace sweep_after_;                ///< where the second half of the next cycle goes on
    std::optional<Timestamp> next_window_; ///< the earliest that the last ticks found
    std::atomic<bool> has_room_{true};     ///< some unit was free after the last batch
    bool is_line_due_{false};              ///< the first in line have left room for those behind them
    Metrics::Counter placed_;
    Metrics::Counter waiting_;
    Metrics::Counter metering_;
    Metrics::Counter conflicts_;
    Metrics::Counter overdue_;
    Metrics::SecondsHistogram decision_seconds_;
    Metrics::SecondsHistogram cycle_seconds_;
};

} // namespace fathom::server
