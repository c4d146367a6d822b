#pragma once

#include "server/api/caller.hpp"
#include "server/billing/price_books_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Prices to set.
struct PriceBookOrder {
    PriceBook book;
    std::optional<Timestamp> valid_from; ///< empty: from now on
};

/// A price book that was set, and what looks wrong in it.
struct PriceBookAnswer {
    StoredPriceBook book;
    std::vector<FieldError> warnings; ///< fields of the document; at most 200
};

/// What units cost. Thread-safe. `database` must outlive it.
class PriceBooksService {
  public:
    explicit PriceBooksService(Database& database) : database_(&database) {}

    asio::awaitable<Result<Page<PriceBookRecord>>> list(std::int64_t size, std::int64_t before);
    /// @error kNotFound
    asio::awaitable<Result<StoredPriceBook>> get(std::int64_t version);
    /// The one in force. @error kNotFound  nothing has a price.
    asio::awaitable<Result<StoredPriceBook>> get_in_force();
    /// Prices of places that the network does not have, or not yet, and places without a price are warnings: a book may
    /// be set before its centers join.
    /// @error kInvalid   it is to be in force from a moment that has passed.
    /// @error kConflict  jobs wait with budgets in another currency.
    asio::awaitable<Result<PriceBookAnswer>> set(Caller caller, PriceBookOrder order);

  private:
    Database* database_;
};

} // namespace fathom::server
