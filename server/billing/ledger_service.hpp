#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "server/api/caller.hpp"
#include "server/api/compute_pool.hpp"
#include "server/billing/ledger_store.hpp"
#include "server/billing/rate_books.hpp"
#include "server/billing/usage_meter.hpp"
#include "server/store/database.hpp"

#include <functional>
#include <string_view>

namespace fathom::server {

/// What a check of the ledger found.
struct LedgerCheck {
    std::int64_t entries{};
    std::int64_t charges{};
    std::int64_t usage_records{};
    std::int64_t unrated{}; ///< usage that is recorded and not posted yet: no fault
    std::string head_sha256;
    std::vector<std::string> faults; ///< at most 100
};

/// Meters usage, rates it, posts it, closes months, checks all of it. Every replica does; each step is one transaction
/// that finds what the last one left, so that it may end anywhere. Rating takes no database connection and no thread of
/// the network. Thread-safe. The references must outlive it.
class LedgerService {
  public:
    /// Told at each step, for tests that end the process there: "metering", "metered", "rated", "posting", "posted",
    /// "closing", "closed".
    using StepWatch = std::function<void(std::string_view step)>;

    LedgerService(Database& database, const UsageMeter& meter, ComputePool& compute, Metrics& metrics,
                  StepWatch watch = {})
        : database_(&database), meter_(&meter), compute_(&compute), metrics_(&metrics), watch_(std::move(watch))
    {
    }

    /// @return records that were written; more may be due.
    asio::awaitable<Result<std::int64_t>> meter_next();
    /// Rates and posts the next usage. @return usage records that were posted; 0: none is left, or another replica was
    /// faster.
    asio::awaitable<Result<std::int64_t>> post_next();
    /// Closes a month ("2026-11"): from then on it takes no entry, and what is late for it goes to the next.
    /// @error kInvalid   it is no month.
    /// @error kConflict  it has not ended, is closed, or has usage that is still to be posted.
    asio::awaitable<Result<BillingPeriod>> close(Caller caller, std::string period);
    /// Reads the whole ledger: computes the chain of hashes, rates every usage again, and looks for usage that is
    /// missing or was posted twice.
    asio::awaitable<Result<LedgerCheck>> verify(std::string token_id);
    asio::awaitable<Result<std::vector<BillingPeriod>>> periods();
    /// All versions of the price book, for who rates beside the ledger.
    RateBooks& books() { return books_; }

    /// Meters and posts from now on, every two seconds.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);

  private:
    asio::awaitable<void> follow();
    asio::awaitable<Result<void>> work_off();
    void reach(std::string_view step) const
    {
        if (watch_) watch_(step);
    }

    Database* database_;
    const UsageMeter* meter_;
    ComputePool* compute_;
    Metrics* metrics_;
    const StepWatch watch_;
    RateBooks books_;
};

Json to_json(const BillingPeriod& period);
Json to_json(const LedgerCheck& check);

} // namespace fathom::server
