#include "server/catalog/catalog_prices.hpp"

#include "core/base/log.hpp"
#include "core/model/money.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

// The time until the next book counts from the database's clock, which decides what is in force.
constexpr const char* kSelectVersions = R"sql(
    SELECT (SELECT version FROM price_book WHERE valid_from <= now() ORDER BY valid_from DESC, version DESC LIMIT 1)
               AS version,
           (SELECT extract(epoch FROM min(valid_from) - now())::float8 FROM price_book WHERE valid_from > now())
               AS next_s)sql";

constexpr const char* kSelectDocument = "SELECT document FROM price_book WHERE version = $1";

constexpr const char* kSelectBills = R"sql(
    SELECT project, billed_micros FROM project_bill
    WHERE period = date_trunc('month', now() AT TIME ZONE 'UTC')::date AND currency = $1
      AND project = ANY ($2::text[]))sql";

/// Sleeping longer than a day and looking again is as good.
constexpr double kMaxWaitS = 86400;

std::shared_ptr<const PriceBook> select_book(pqxx::work& transaction, std::int64_t version)
{
    Result<PriceBook> book = parse_price_book(to_json_value(transaction.exec_params1(kSelectDocument, version)[0]));
    if (book) return std::make_shared<const PriceBook>(std::move(*book));
    // Written by a newer replica. Jobs are placed all the same, as if nothing had a price.
    log_error("price_book_unreadable", {{"version", version}, {"error", describe(book.error())}});
    return std::make_shared<const PriceBook>();
}

bool has_score_price(const PriceEntry& entry)
{
    return entry.per_score_hour_micros > 0 ||
           std::any_of(entry.bands.begin(), entry.bands.end(),
                       [](const PriceBand& band) { return band.per_score_hour_micros.value_or(0) > 0; });
}

/// Unit types of one entry share its price, and where it hangs on their scores, those of one score.
std::shared_ptr<const UnitPrice> price_of(const UnitTypeView& view, const KnownPrices& previous, KnownPrices& known)
{
    const PriceEntry* entry = find_price(*known.book, view.center_name, view.name);
    if (entry == nullptr) return nullptr;
    const double score = has_score_price(*entry) ? view.score : 0;
    const std::pair key(static_cast<std::size_t>(entry - known.book->entries.data()), score);
    const auto [place, is_new] = known.by_entry.try_emplace(key);
    if (!is_new) return place->second;
    const auto prepared = previous.book == known.book ? previous.by_entry.find(key) : previous.by_entry.end();
    place->second =
        prepared != previous.by_entry.end() ? prepared->second : std::make_shared<const UnitPrice>(*entry, score);
    return place->second;
}

} // namespace

KnownPrices select_prices(pqxx::work& transaction, const KnownPrices& previous)
{
    KnownPrices known;
    const pqxx::row versions = transaction.exec1(kSelectVersions);
    if (!versions["next_s"].is_null())
        known.next_change = std::chrono::milliseconds(
            std::llround(std::ceil(std::min(versions["next_s"].as<double>(), kMaxWaitS) * 1000)));
    if (versions["version"].is_null()) return known;
    known.version = versions["version"].as<std::int64_t>();
    known.book = known.version == previous.version ? previous.book : select_book(transaction, known.version);
    return known;
}

void assign_prices(CatalogSnapshot& catalog, const KnownPrices& previous)
{
    if (catalog.prices.book == nullptr) return;
    for (UnitTypeView& view : catalog.unit_types)
        view.price = price_of(view, previous, catalog.prices);
}

std::map<std::string, std::string, std::less<>> select_spent_projects(pqxx::work& transaction,
                                                                      const KnownPrices& prices)
{
    std::map<std::string, std::string, std::less<>> spent;
    SqlArray refusing;
    bool is_limited = false;
    for (std::size_t i = 0; prices.book != nullptr && i < prices.book->budgets.size(); ++i) {
        const ProjectBudget& budget = prices.book->budgets[i];
        if (!budget.refuses) continue;
        refusing.add(budget.project);
        is_limited = true;
    }
    if (!is_limited) return spent;
    for (const pqxx::row& row : transaction.exec_params(kSelectBills, prices.book->currency, refusing.take())) {
        const auto project = row["project"].as<std::string>();
        const auto billed = row["billed_micros"].as<std::int64_t>();
        const ProjectBudget* budget = find_budget(*prices.book, project);
        if (budget != nullptr && billed >= budget->per_month_micros)
            spent[project] = "project " + project + " has been billed " + format_amount(billed) + " " +
                             prices.book->currency + " this month (UTC), and its budget is " +
                             format_amount(budget->per_month_micros);
    }
    return spent;
}

} // namespace fathom::server
