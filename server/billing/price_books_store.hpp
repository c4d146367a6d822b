#pragma once

#include "core/base/clock.hpp"
#include "core/model/price_book.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Rows of price books, which are never changed. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// A version of the price book, without its prices: there may be thousands.
struct PriceBookRecord {
    std::int64_t version{};
    std::string currency;
    std::int64_t entry_count{};
    Timestamp valid_from{};
    bool is_in_force{false}; ///< the newest whose valid_from has come
    Timestamp created_at{};
    std::string created_by; ///< id of the token
};

/// With its prices.
struct StoredPriceBook {
    PriceBookRecord record;
    Json document; ///< as to_json(PriceBook)
};

/// Newest first; `before`: versions below this, 0 for the first page.
Page<PriceBookRecord> select_price_books(pqxx::work& transaction, std::int64_t size, std::int64_t before);
std::optional<StoredPriceBook> select_price_book(pqxx::work& transaction, std::int64_t version);
/// The one in force.
std::optional<StoredPriceBook> select_price_book_in_force(pqxx::work& transaction);

/// @param valid_from  empty: now.
/// @return its version
std::int64_t insert_price_book(pqxx::work& transaction, const Json& document,
                               const std::optional<Timestamp>& valid_from, const std::string& created_by);

/// Center and unit type of every active unit type; a center without any comes with an empty one. Revoked centers are
/// left out.
std::set<std::pair<std::string, std::string>> select_priced_places(pqxx::work& transaction);
/// How many jobs that have not been placed yet have a budget in another currency.
std::int64_t count_other_budgets(pqxx::work& transaction, const std::string& currency);

Json to_json(const PriceBookRecord& record);

} // namespace fathom::server
