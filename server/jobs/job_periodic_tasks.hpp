#pragma once

#include "core/base/clock.hpp"
#include "core/net/task_group.hpp"
#include "server/events/wake_signal.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

#include <cstdint>

namespace fathom::server {

/// What must be done for jobs without anybody asking: jobs whose center is lost are marked so and come back with
/// it, and the gauges of open jobs are kept. Every replica runs it; row locks share the work.
///
/// When a center counts as lost is decided by the centers room, which starts its clocks anew when the server
/// itself was away; this periodic task only follows the center's state.
class JobPeriodicTasks {
  public:
    JobPeriodicTasks(Database& database, const asio::any_io_executor& executor, Metrics& metrics, const Clock& clock);

    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    void start(net::TaskGroup& group);

    /// One look at lost and returned centers; called by the periodic task, and by tests. @return jobs moved.
    asio::awaitable<Result<std::int64_t>> follow_centers();

  private:
    asio::awaitable<void> follow();
    asio::awaitable<Result<void>> set_gauges();

    Database* database_;
    Metrics* metrics_;
    const Clock* clock_;
    WakeSignal wake_;
    std::chrono::steady_clock::time_point next_count_{}; ///< runs on: the wake signal's strand
};

} // namespace fathom::server
