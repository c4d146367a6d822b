#pragma once

#include "core/net/task_group.hpp"
#include "server/identity/authority.hpp"
#include "server/store/notifier.hpp"

#include <atomic>
#include <functional>

namespace fathom::server {

namespace asio = boost::asio;

/// Keeps what this replica knows of the network's authorities as the database has it: another replica may have taken a
/// step of their rotation. All that it refers to must outlive it.
class AuthorityFollower {
  public:
    /// Has this replica trust and show what is new, before the holder says so.
    using Take = std::function<Result<void>(const NetworkAuthorities&)>;

    /// @param holder  has been set, and `take` called with the same.
    AuthorityFollower(Database& database, AuthorityKeyFile file, AuthorityHolder& holder, Take take);

    /// Listens to "authority" (a step was taken). Before Notifier::start().
    void subscribe(Notifier& notifier);
    /// From now on looks when a step was taken, on `executor`, whose thread waits for files and the database.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);
    /// One look; called by the task, and by tests. Blocks.
    /// @error others  as load_authorities() and `take`; what was known before stays.
    Result<void> look();

  private:
    asio::awaitable<void> follow();

    Database* database_;
    AuthorityKeyFile file_;
    AuthorityHolder* holder_;
    Take take_;
    std::atomic<bool> is_stale_{true}; ///< a step may have been taken since the last look
};

} // namespace fathom::server
