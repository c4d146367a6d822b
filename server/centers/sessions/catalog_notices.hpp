#pragma once

// Internal to server/centers.

#include "core/base/id.hpp"
#include "server/ports/attempt_gateway.hpp"
#include "server/store/database.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>

namespace fathom::server {

/// Bounds how often what one center reports makes every replica read the catalog anew. A change tells of itself in its
/// own transaction, unless another one did less than a pause ago: then one wake-up at the end of the pause tells of all
/// that have come meanwhile, so that the last one is never missed.
/// Runs on: the session's strand.
class CatalogNotices {
  public:
    /// @param database  outlives this.
    CatalogNotices(Database& database, const asio::any_io_executor& executor, std::chrono::milliseconds pause);

    /// For a change that is about to be stored. kLater: call later() once it is.
    CatalogNotice take();
    void later();

    /// Sends what later() asked for, until end(); what is left then goes at once.
    asio::awaitable<void> run(CenterId center);
    void end();

  private:
    asio::awaitable<void> tell(const CenterId* center);

    Database* database_;
    const std::chrono::milliseconds pause_;
    asio::steady_timer timer_;
    std::chrono::steady_clock::time_point next_{}; ///< not told before
    bool is_pending_ = false;
    bool has_ended_ = false;
};

} // namespace fathom::server
