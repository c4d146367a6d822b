#pragma once

#include "core/base/metrics.hpp"
#include "server/balance/balance_followers.hpp"
#include "server/balance/balance_store.hpp"
#include "server/ports/balance_gateway.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Keeps what agents tell of their balance loops, and gives it to people. Thread-safe. All must outlive it.
class BalanceService final : public BalanceGateway {
  public:
    BalanceService(Database& database, Metrics& metrics, BalanceLimits limits = {})
        : database_(&database), metrics_(&metrics), limits_(limits), followers_(database, metrics)
    {
    }

    asio::awaitable<Result<void>> take_steps(Reporter reporter, BalanceSteps steps) override;

    /// Steps of a unit, the newest first.
    struct History {
        BalancedUnitKey key;
        std::optional<Timestamp> since;
        std::int64_t before{}; ///< of a page after the first: the number that it goes on before
        std::int64_t size{};
        JobScope scope; ///< jobs that are named
    };
    /// @error kNotFound  the center has told of no such unit.
    asio::awaitable<Result<Page<BalanceStepRecord>>> history(History wanted);
    asio::awaitable<Result<Page<BalancedUnitRecord>>> units(std::string center, std::int64_t size, std::string after,
                                                            JobScope scope);
    BalanceFollowers& followers() { return followers_; }

  private:
    Database* database_;
    Metrics* metrics_;
    BalanceLimits limits_;
    BalanceFollowers followers_;
};

} // namespace fathom::server
