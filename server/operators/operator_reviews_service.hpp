#pragma once

#include "server/api/caller.hpp"
#include "server/operators/operator_reviews_store.hpp"
#include "server/operators/operators_service.hpp"

namespace fathom::server {

/// Operators of centers (M2): what a center's key signed waits here for an admin of the network, and nothing of it is
/// used before. Thread-safe. `database` and `operators` must outlive it.
class OperatorReviewsService {
  public:
    OperatorReviewsService(Database& database, OperatorsService& operators)
        : database_(&database), operators_(&operators)
    {
    }

    /// @error kForbidden  no trusted key signed it
    /// @error kConflict   the key is the network's, whose uploads need no review; the operator is built in, has another
    ///                    next version, or has one that waits; too many of the center wait; the library is a copy
    asio::awaitable<Result<OperatorReview>> submit(Caller caller, OperatorPackage package);
    /// `state` empty: of all states.
    asio::awaitable<Result<Page<OperatorReview>>> list(std::string state, std::int64_t size, std::string after);
    /// The package of one that waits, as JSON text. @error kNotFound
    asio::awaitable<Result<std::string>> package(std::string id);
    /// Makes it a version of the library. Whoever submitted it cannot.
    /// @error kNotFound, kForbidden  as submit(), and of the one who submitted it
    /// @error kConflict  it is decided on, or as submit()
    asio::awaitable<Result<OperatorReview>> approve(Caller caller, std::string id);
    /// @error kNotFound, kConflict  it is decided on
    asio::awaitable<Result<OperatorReview>> reject(Caller caller, std::string id, std::string reason);

  private:
    Database* database_;
    OperatorsService* operators_;
};

} // namespace fathom::server
