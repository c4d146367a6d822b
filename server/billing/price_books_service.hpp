#pragma once

#include "server/api/caller.hpp"
#include "server/api/compute_pool.hpp"
#include "server/billing/price_books_store.hpp"
#include "server/store/database.hpp"

#include <map>

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

/// What usage of a time would have cost by another book.
struct PriceTrial {
    std::string currency;
    std::int64_t usage_records{};
    struct Project {
        std::int64_t trial_micros{};
        std::map<std::string, std::int64_t> billed_micros; ///< by currency: what it was billed for the same usage
    };
    std::map<std::string, Project> projects;
};

/// What units cost. Thread-safe. The references must outlive it.
class PriceBooksService {
  public:
    PriceBooksService(Database& database, ComputePool& compute) : database_(&database), compute_(&compute) {}

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
    /// What past usage would have cost by a book, beside what it was billed; nothing is changed. Only what projects pay
    /// counts, in its newest revision.
    asio::awaitable<Result<PriceTrial>> try_book(PriceBook book, Timestamp from, Timestamp until);

  private:
    Database* database_;
    ComputePool* compute_;
};

} // namespace fathom::server
