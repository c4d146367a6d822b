#pragma once

#include "server/store/database.hpp"

#include <pqxx/pqxx>

#include <chrono>
#include <future>
#include <string>

namespace fathom::server {

/// Whoever reads the table waits, until release() or a minute is over. A transaction of another thread has it.
class LockedTable {
  public:
    /// Returns when it is locked.
    LockedTable(Database& database, const std::string& table)
    {
        held_ = std::async(std::launch::async, [this, &database, table] {
            auto hold = [&](pqxx::work& transaction) -> Result<void> {
                transaction.exec("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
                locked_.set_value();
                released_.get_future().wait_for(kLimit);
                return {};
            };
            return database.blocking_run(hold);
        });
        locked_.get_future().wait_for(kLimit);
    }
    ~LockedTable() { release(); }
    LockedTable(const LockedTable&) = delete;
    LockedTable& operator=(const LockedTable&) = delete;

    void release()
    {
        if (is_released_) return;
        is_released_ = true;
        released_.set_value();
    }

  private:
    static constexpr std::chrono::seconds kLimit{60};

    std::promise<void> locked_;
    std::promise<void> released_;
    bool is_released_ = false;
    std::future<Result<void>> held_; ///< last: it ends before what it uses
};

/// SQL: how many statements of this database wait for a lock.
inline constexpr const char* kCountLockWaits =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

} // namespace fathom::server
