#pragma once

#include "server/store/database.hpp"

#include <vector>

namespace fathom::server {

/// Gathers small writes of one kind into one transaction with multi-row statements (design: group commit).
/// While one batch commits, the next gathers: no timer, and no wait when idle. Each caller is answered
/// after COMMIT. When a batch fails for a reason of its content, its items run one by one, so that one bad
/// item does not take the others down.
///
/// `Item` goes in, `Answer` (copyable) comes out for each. Thread-safe.
template <class Item, class Answer> class GroupCommit
{
  public:
    /// Writes all items; returns one answer an item, in order.
    using Write = std::function<Result<std::vector<Answer>>(pqxx::work&, std::vector<Item>&)>;

    GroupCommit(Database& database, asio::any_io_executor executor, std::string name, Metrics& metrics, Write write,
                std::size_t max_batch = 512);
    ~GroupCommit();

    /// @error kTooMany  more than 16 × max_batch items wait.  Others as Database::run.
    asio::awaitable<Result<Answer>> add(Item item);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::server
