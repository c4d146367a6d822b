#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "server/retention/retention_store.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <cstdint>
#include <functional>

namespace fathom::server {

/// For how long what has ended is kept; 0: for ever. Output goes with its job at the latest.
struct RetentionRule {
    std::chrono::days jobs{365};         ///< after the end, with events, decisions and predictions
    std::chrono::days output{90};        ///< after the end of its job
    std::chrono::days measurements{730}; ///< probe runs that no figure rests on any more
    std::chrono::days audit{1095};
    std::chrono::days usage{1095}; ///< what projects used, by the day: what bills and quotas are made of
    std::chrono::days cycles{7};   ///< what schedulers decided on
    std::int64_t cycle_bytes{std::int64_t{1} << 30}; ///< the same: the newest so many bytes; 0: none are kept
    std::chrono::days balance{7};                    ///< what balance loops did
    std::int64_t balance_steps = 20'000;             ///< the same: the newest of a unit; 0: none are taken
};

/// Removes what is older than the rule says, in small transactions with pauses between them, and keeps the gauges of
/// what is stored. Every replica runs it; one at a time removes. What cannot be removed is logged and left, and the
/// rest goes on. Thread-safe. All must outlive it.
class RetentionTask {
  public:
    struct Pace {
        std::chrono::milliseconds pause{200}; ///< after each transaction
        std::int64_t jobs{100};               ///< in one transaction; probe runs as well
        std::int64_t pieces{256};             ///< of output in one transaction, of up to 256 KiB each
        std::int64_t rows{1000};              ///< of the audit log, of usage, and of balance loops
    };

    RetentionTask(Database& database, const Clock& clock, Metrics& metrics, RetentionRule rule)
        : RetentionTask(database, clock, metrics, rule, Pace())
    {
    }
    RetentionTask(Database& database, const Clock& clock, Metrics& metrics, RetentionRule rule, Pace pace)
        : database_(&database), clock_(&clock), metrics_(&metrics), rule_(rule), pace_(pace)
    {
    }

    void start(net::TaskGroup& group, const asio::any_io_executor& executor);

    /// How many of each kind were removed.
    struct Removed {
        std::int64_t outputs{}; ///< attempts whose output went
        std::int64_t jobs{};
        std::int64_t probe_runs{};
        std::int64_t audit{};
        std::int64_t usage{};
        std::int64_t balance_steps{};
    };
    /// Removes all that is due; called by the periodic task, and by tests.
    asio::awaitable<Result<Removed>> turn();
    /// Sets the gauges of what is stored.
    asio::awaitable<Result<void>> set_gauges();

  private:
    using Select = std::vector<Due> (*)(pqxx::work&, Timestamp, const Due&, std::int64_t);
    using Remove = std::int64_t (*)(pqxx::work&, const std::vector<std::string>&);
    using RemoveRows = std::int64_t (*)(pqxx::work&, Timestamp, std::int64_t);

    asio::awaitable<void> follow();
    /// One transaction under the lock of those who remove. @return what `work` returned; 0 where another one removes.
    asio::awaitable<Result<std::int64_t>> remove_in(std::function<std::int64_t(pqxx::work&)> work);
    asio::awaitable<Result<std::int64_t>> remove_outputs(Timestamp before);
    asio::awaitable<Result<std::int64_t>> remove_pages(Timestamp before, Select select, Remove remove);
    asio::awaitable<Result<std::int64_t>> remove_rows(Timestamp before, RemoveRows remove);

    Database* database_;
    const Clock* clock_;
    Metrics* metrics_;
    RetentionRule rule_;
    Pace pace_;
};

} // namespace fathom::server
