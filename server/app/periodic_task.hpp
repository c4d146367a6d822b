#pragma once

#include "core/net/task_group.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fathom::server {

/// Runs periodic tasks. Each run is one transaction that holds the periodic task's advisory lock, so that no two
/// replicas do the same periodic task at the same time; a replica that finds the lock taken skips that turn. The lock
/// ends with the transaction, also when the connection is lost. Replicas take turns by chance, so a periodic task
/// must look at the data for what is due, not count its own runs.
class PeriodicTaskRunner {
  public:
    using Work = std::function<Result<void>(pqxx::work&)>;

    PeriodicTaskRunner(Database& database, asio::any_io_executor executor, Metrics& metrics);
    ~PeriodicTaskRunner();
    PeriodicTaskRunner(const PeriodicTaskRunner&) = delete;
    PeriodicTaskRunner& operator=(const PeriodicTaskRunner&) = delete;

    /// Before start(). `name` is stable and unique. Runs about every `period` (± 10 %), first after one period.
    /// Errors are logged and counted; the next turn comes all the same.
    void add(std::string name, std::chrono::milliseconds period, Work work);
    void start();
    /// No new runs; waits for those under way. Blocks: not on an io thread.
    void stop();
    /// After stop(): false when one still runs after `limit`.
    bool wait(std::chrono::milliseconds limit) { return coroutines_.wait(limit); }

  private:
    struct PeriodicTask;
    static asio::awaitable<void> repeat(std::shared_ptr<const PeriodicTask> task);

    asio::any_io_executor executor_;
    Database* database_;
    Metrics* metrics_;
    std::vector<std::shared_ptr<const PeriodicTask>> periodic_tasks_;
    net::TaskGroup coroutines_{"periodic tasks"};
};

} // namespace fathom::server
