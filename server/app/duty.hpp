#pragma once

#include "core/net/task_group.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fathom::server {

/// Runs periodic duties. Each run is one transaction that holds the duty's advisory lock, so that no two
/// replicas do the same duty at the same time; a replica that finds the lock taken skips that turn. The lock
/// ends with the transaction, also when the connection is lost. Replicas take turns by chance, so a duty
/// must look at the data for what is due, not count its own runs.
class DutyRunner {
  public:
    using Work = std::function<Result<void>(pqxx::work&)>;

    DutyRunner(Database& database, asio::any_io_executor executor, Metrics& metrics);
    ~DutyRunner();
    DutyRunner(const DutyRunner&) = delete;
    DutyRunner& operator=(const DutyRunner&) = delete;

    /// Before start(). `name` is stable and unique. Runs about every `period` (± 10 %), first after one period.
    /// Errors are logged and counted; the next turn comes all the same.
    void add(std::string name, std::chrono::milliseconds period, Work work);
    void start();
    /// No new runs; waits for those under way. Blocks: not on an io thread.
    void stop();
    /// After stop(): false when one still runs after `limit`.
    bool wait(std::chrono::milliseconds limit) { return tasks_.wait(limit); }

  private:
    struct Duty;
    static asio::awaitable<void> repeat(std::shared_ptr<const Duty> duty);

    asio::any_io_executor executor_;
    Database* database_;
    Metrics* metrics_;
    std::vector<std::shared_ptr<const Duty>> duties_;
    net::TaskGroup tasks_{"duties"};
};

} // namespace fathom::server
