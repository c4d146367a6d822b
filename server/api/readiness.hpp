#pragma once

#include "server/store/database.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace fathom::server {

/// Whether this replica can work, looked up at most once a second however many ask. What is wrong stands in the log
/// only: strangers may ask. Thread-safe.
class Readiness {
  public:
    /// `embedded_state` says how the embedded PostgreSQL is ("ok" or what is wrong); null when there is none.
    /// `is_disk_low` says whether new jobs are refused for want of room; null: they never are.
    Readiness(Database& database, std::function<std::string()> embedded_state,
              std::function<bool()> is_disk_low = nullptr);

    struct State {
        bool database = false;
        std::optional<bool> embedded;         ///< none when there is no embedded PostgreSQL
        std::optional<bool> is_disk_low = {}; ///< none when nobody can tell
        bool is_ready() const { return database && embedded.value_or(true); }
    };
    /// Those who come while somebody looks get what was known before; not ready when the look takes long.
    boost::asio::awaitable<State> get();

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    boost::asio::awaitable<bool> ask_database();
    bool ask_embedded() const;

    Database* database_;
    const std::function<std::string()> embedded_state_;
    const std::function<bool()> is_disk_low_;
    std::mutex mutex_;
    State known_;
    std::optional<SteadyTime> known_since_;
    std::optional<SteadyTime> looking_since_;
};

} // namespace fathom::server
