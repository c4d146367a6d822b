#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "server/retention/retention_store.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fathom::server {

/// For how long what has ended is kept; 0: for ever. Output goes with its job at the latest.
struct RetentionRule {
    /// After the end, with decisions and predictions; events as update_event_months. So long reservations and
    /// maintenance windows are kept, too, and types of jobs of which no job is kept.
    std::chrono::days jobs{365};
    std::chrono::days output{90};        ///< after the end of its job
    std::chrono::days measurements{730}; ///< probe runs that no figure rests on any more
    std::chrono::days findings{365};     ///< about probes, that no trust rests on any more
    std::chrono::days audit{1095};
    std::chrono::days usage{1095}; ///< what projects used, by the day: what bills and quotas are made of
    std::chrono::days cycles{7};   ///< what schedulers decided on
    std::int64_t cycle_bytes{std::int64_t{1} << 30}; ///< the same: the newest so many bytes; 0: none are kept
    std::chrono::days balance{7};                    ///< what balance loops did
    std::int64_t balance_steps = 20'000;             ///< the same: the newest of a unit; 0: none are taken
    std::chrono::days sub_units{365};                ///< ended requests and grants of sub-units, their record
    /// Copies of outputs at other centers than that of their job, since they were told of last; no setting. The router
    /// looks back seven days (routing/output_inputs).
    std::chrono::days kept_outputs{8};
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
        std::int64_t rows{1000};              ///< of each other kind in one transaction
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
        std::int64_t findings{};
        std::int64_t audit{};
        std::int64_t usage{};
        std::int64_t balance_steps{};
        std::int64_t sub_units{}; ///< rows of requests, grants and their record
        std::int64_t kept_outputs{};
        std::int64_t job_types{}; ///< and probe tasks that were made for them
        std::int64_t calendar{};  ///< reservations and maintenance windows
    };
    /// Removes all that is due; called by the periodic task, and by tests.
    asio::awaitable<Result<Removed>> turn();
    struct EventMonths {
        std::int64_t made{};
        std::int64_t dropped{}; ///< or reduced to the events of jobs that outlived them
        std::int64_t waiting{}; ///< to be made or dropped, which was not possible now
    };
    /// Makes the partitions of events for this month and the next, and drops those of months that ended as long ago as
    /// jobs are kept. Called at start, by the periodic task, and by tests.
    asio::awaitable<Result<EventMonths>> update_event_months();
    /// Sets the gauges of what is stored.
    asio::awaitable<Result<void>> set_gauges();

  private:
    using Select = std::vector<Due> (*)(pqxx::work&, Timestamp, const Due&, std::int64_t);
    using Remove = std::int64_t (*)(pqxx::work&, const std::vector<std::string>&);
    using RemoveRows = std::int64_t (*)(pqxx::work&, Timestamp, std::int64_t);
    /// A kind of which the oldest rows go, so many in a transaction.
    struct OldRows {
        std::chrono::days kept_for{}; ///< 0: for ever
        RemoveRows remove{};
        std::int64_t Removed::* count{}; ///< how many were removed
    };

    using SelectMonths = std::vector<std::string> (*)(pqxx::work&, Timestamp);
    using ChangeMonth = bool (*)(pqxx::work&, const std::string&);

    asio::awaitable<void> follow();
    asio::awaitable<void> remove_and_log();
    asio::awaitable<void> update_event_months_and_log();
    struct MonthChanges {
        std::int64_t done{};
        std::int64_t waiting{};
    };
    /// Each month that `select` finds in a transaction of its own.
    asio::awaitable<Result<MonthChanges>> change_event_months(Timestamp at, SelectMonths select, ChangeMonth change);
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
