#pragma once

#include "core/base/metrics.hpp"
#include "core/net/http.hpp"
#include "server/balance/balance_store.hpp"
#include "server/store/database.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

/// Those who watch a unit's loop live. Each looks into the database, so that any replica can serve anybody: a look at
/// what has not changed is one row by its key. Thread-safe. All must outlive it.
class BalanceFollowers {
  public:
    struct Pace {
        std::chrono::milliseconds look{500};
        std::int64_t most_followers = 200; ///< of a replica
    };
    BalanceFollowers(Database& database, Metrics& metrics) : BalanceFollowers(database, metrics, Pace()) {}
    BalanceFollowers(Database& database, Metrics& metrics, Pace pace)
        : database_(&database), metrics_(&metrics), pace_(pace), count_(std::make_shared<std::atomic<std::int64_t>>(0))
    {
    }

    struct Wanted {
        BalancedUnitKey key;
        std::optional<std::int64_t> after; ///< the number of the last step that is known; none: from now on
        JobScope scope;                    ///< jobs that are named
    };
    /// A follower's place, for as long as it is held. @error kTooMany  this replica has as many as it takes.
    Result<std::shared_ptr<const void>> take_place();
    /// @error kNotFound  the center has told of no such unit.
    asio::awaitable<Result<BalancedUnitRow>> find(BalancedUnitKey key);
    /// Writes steps as server-sent events until the follower is gone, the unit is, or the server stops.
    asio::awaitable<void> stream(Wanted wanted, std::shared_ptr<const void> place,
                                 std::shared_ptr<net::BodyWriter> writer);

  private:
    struct News;
    asio::awaitable<Result<News>> look(const Wanted* wanted, std::int64_t after);

    Database* database_;
    Metrics* metrics_;
    Pace pace_;
    std::shared_ptr<std::atomic<std::int64_t>> count_;
};

} // namespace fathom::server
