#include "server/billing/rate_books.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <stdexcept>

namespace fathom::server {
namespace {

constexpr Statement kCountBooks{"billing_count_books", "SELECT count(*) FROM price_book"};
constexpr Statement kSelectBooks{"billing_select_books",
                                 "SELECT version, valid_from, document FROM price_book ORDER BY valid_from, version"};

} // namespace

RateBooksPointer RateBooks::get(pqxx::work& transaction)
{
    const auto count = exec(transaction, kCountBooks)[0][0].as<std::int64_t>();
    {
        const std::scoped_lock lock(mutex_);
        if (count == count_) return books_;
    }
    auto books = std::make_shared<std::vector<RateBook>>();
    for (const pqxx::row& row : exec(transaction, kSelectBooks)) {
        Result<PriceBook> book = parse_price_book(to_json_value(row["document"]));
        // Nothing may be rated past it: by the wrong book it would be wrong for ever.
        if (!book)
            throw std::runtime_error("version " + std::string(row["version"].c_str()) +
                                     " of the price book cannot be read: " + describe(book.error()));
        books->emplace_back(row["version"].as<std::int64_t>(), to_timestamp(row["valid_from"]), std::move(*book));
    }
    const std::scoped_lock lock(mutex_);
    if (static_cast<std::int64_t>(books->size()) >= count_) {
        count_ = static_cast<std::int64_t>(books->size());
        books_ = books;
    }
    return books;
}

} // namespace fathom::server
