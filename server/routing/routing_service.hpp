#pragma once

#include "server/routing/routing_page.hpp"

#include <atomic>

namespace fathom::server {

/// The router: moves waiting jobs to places. Each replica runs this loop, and leaves to the others what they decide on.
///
/// A pass looks at waiting jobs in order of their turns, page by page; it decides on a thread of its own, outside of
/// any transaction (RoutingPage). It runs on wake-ups "route" (those of new jobs only while some unit is free) and
/// "catalog", and every two seconds (a tick), which also refreshes the reasons that jobs wait for, and comes early when
/// a network window opens that a job waits for. Where many jobs wait, these passes come less often: they take a quarter
/// of the router's time at most. What becomes free meanwhile goes to the first in line, between two of them and between
/// two of their pages. When more jobs wait than a pass can look at, its first half starts at the first and its second
/// half goes on where the last pass ended: jobs that wait for one center cannot hide those for another for ever. Runs
/// on: one coroutine at a time.
class RoutingService {
  public:
    RoutingService(Database& database, const asio::any_io_executor& executor, Metrics& metrics, const Clock& clock,
                   CatalogCache& catalog, const UnitLoadService& loads, ProbePlanner& planner,
                   WaitingJobTerminator& terminator, RoutingSettings settings);

    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    void start(net::TaskGroup& group);

    /// kFirst: only the first in line are looked at.
    enum class Pass { kFirst, kWoken, kTick };
    /// One pass; called by the loop, and by tests. Returns how many jobs were placed.
    asio::awaitable<Result<std::int64_t>> run_pass(Pass kind);

  private:
    asio::awaitable<void> follow();
    /// Page by page: a pass of any kind but kFirst.
    asio::awaitable<Result<std::int64_t>> go_through_line(Pass kind);
    /// What became free goes to the first in line.
    asio::awaitable<Result<PageReport>> place_first();
    asio::awaitable<Result<PageReport>> run_page(PassState state, std::int64_t limit);
    /// Makes what is kept of a newer catalog before a transaction is open: in a large network that takes a while.
    asio::awaitable<Result<void>> prepare_columns();
    /// After a page failed: job by job, so that one that cannot be routed does not stop the others.
    asio::awaitable<Result<PageReport>> run_page_singly(PassState state);
    void note_page(const Result<PageReport>& report);
    void observe(const PageReport& report);

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
    PassLedger pass_; ///< of the pass that runs
    ComputePool planning_{{.threads = 1}};
    LinePlace sweep_after_;                ///< where the second half of the next pass goes on
    std::optional<Timestamp> next_window_; ///< the earliest that the last ticks found
    std::atomic<bool> has_room_{true};     ///< some unit was free after the last page
    bool is_line_due_{false};              ///< the first in line have left room for those behind them
    Metrics::Counter placed_;
    Metrics::Counter waiting_;
    Metrics::Counter metering_;
    Metrics::Counter conflicts_;
    Metrics::Counter overdue_;
    Metrics::SecondsHistogram decision_seconds_;
    Metrics::SecondsHistogram pass_seconds_;
};

} // namespace fathom::server
