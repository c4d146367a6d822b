#include "server/billing/price_books_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kInForce = R"sql(
    (SELECT version FROM price_book WHERE valid_from <= clock_timestamp() ORDER BY valid_from DESC, version DESC LIMIT 1))sql";

/// What to_record() reads.
const std::string kColumns = std::string(R"sql(
    version, document ->> 'currency' AS currency, jsonb_array_length(document -> 'entries') AS entry_count, valid_from,
    created_at, created_by, version = )sql") +
                             kInForce + " AS in_force";

const std::string kSelectBooks = "SELECT " + kColumns + R"sql(
    FROM price_book WHERE $1::bigint = 0 OR version < $1 ORDER BY version DESC LIMIT $2)sql";
const std::string kSelectBook = "SELECT " + kColumns + ", document FROM price_book WHERE version = $1";
const std::string kSelectBookInForce = "SELECT " + kColumns + ", document FROM price_book WHERE version = " + kInForce;

// Nobody posts meanwhile, and nothing holds for moments that are over: what was rated without this book never has one.
constexpr const char* kLockLedger = "SELECT 1 FROM ledger_head FOR UPDATE";
constexpr const char* kInsertBook = R"sql(
    INSERT INTO price_book (document, valid_from, created_by)
    VALUES ($1, greatest($2::timestamptz, clock_timestamp()), $3) RETURNING version)sql";

constexpr const char* kSelectPlaces = R"sql(
    SELECT c.name AS center, coalesce(u.name, '') AS unit_type
    FROM center c LEFT JOIN unit_type u ON u.center_id = c.id AND u.active
    WHERE c.revoked_at IS NULL)sql";

constexpr const char* kCountOtherBudgets = R"sql(
    SELECT count(*) FROM job
    WHERE state IN ('queued', 'metering') AND spec -> 'budget' ->> 'currency' <> $1)sql";

PriceBookRecord to_record(const pqxx::row& row)
{
    return {.version = row["version"].as<std::int64_t>(),
            .currency = row["currency"].as<std::string>(),
            .entry_count = row["entry_count"].as<std::int64_t>(),
            .valid_from = to_timestamp(row["valid_from"]),
            .is_in_force = row["in_force"].as<bool>(false),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>()};
}

std::optional<StoredPriceBook> first_book(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return StoredPriceBook{to_record(rows[0]), to_json_value(rows[0]["document"])};
}

} // namespace

Page<PriceBookRecord> select_price_books(pqxx::work& transaction, std::int64_t size, std::int64_t before)
{
    std::vector<PriceBookRecord> books;
    for (const pqxx::row& row : transaction.exec_params(kSelectBooks, before, size + 1))
        books.push_back(to_record(row));
    return cut_page(std::move(books), size, [](const PriceBookRecord& book) { return std::to_string(book.version); });
}

std::optional<StoredPriceBook> select_price_book(pqxx::work& transaction, std::int64_t version)
{
    return first_book(transaction.exec_params(kSelectBook, version));
}

std::optional<StoredPriceBook> select_price_book_in_force(pqxx::work& transaction)
{
    return first_book(transaction.exec(kSelectBookInForce));
}

std::int64_t insert_price_book(pqxx::work& transaction, const Json& document,
                               const std::optional<Timestamp>& valid_from, const std::string& created_by)
{
    std::optional<std::string> from;
    if (valid_from) from = format_rfc3339(*valid_from);
    transaction.exec(kLockLedger);
    return transaction.exec_params1(kInsertBook, document.dump(), from, created_by)[0].as<std::int64_t>();
}

std::set<std::pair<std::string, std::string>> select_priced_places(pqxx::work& transaction)
{
    std::set<std::pair<std::string, std::string>> places;
    for (const pqxx::row& row : transaction.exec(kSelectPlaces))
        places.emplace(row["center"].as<std::string>(), row["unit_type"].as<std::string>());
    return places;
}

std::int64_t count_other_budgets(pqxx::work& transaction, const std::string& currency)
{
    return transaction.exec_params1(kCountOtherBudgets, currency)[0].as<std::int64_t>();
}

Json to_json(const PriceBookRecord& record)
{
    return {{"version", record.version},         {"currency", record.currency},
            {"entry_count", record.entry_count}, {"valid_from", format_rfc3339(record.valid_from)},
            {"in_force", record.is_in_force},    {"created_at", format_rfc3339(record.created_at)},
            {"created_by", record.created_by}};
}

} // namespace fathom::server
