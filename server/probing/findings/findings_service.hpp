#pragma once

#include "server/api/caller.hpp"
#include "server/probing/findings/finding_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// What was found about results of centers, for people. Thread-safe. `database` must outlive it.
class FindingsService {
  public:
    explicit FindingsService(Database& database) : database_(&database) {}

    /// @error kInvalid  `after` is not a key of this list.
    asio::awaitable<Result<Page<FindingRecord>>> list(FindingFilter filter, std::int64_t size, std::string after);

    /// An expert says that it is no fault of the center: it costs no trust any more. What it made void stays void, for
    /// a new measurement is cheap. One that is dismissed already stays as it is.
    /// @error kNotFound
    asio::awaitable<Result<FindingRecord>> dismiss(Caller caller, std::string id, std::string reason);

  private:
    Database* database_;
};

} // namespace fathom::server
