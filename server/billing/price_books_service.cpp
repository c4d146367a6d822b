#include "server/billing/price_books_service.hpp"

#include "core/model/price_book.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

constexpr std::size_t kMostWarnings = 200;
const Error kNoSuchBook{Errc::kNotFound, "there is no such version of the price book"};
const Error kNoBookInForce{Errc::kNotFound, "no price book is in force: nothing has a price"};

using Places = std::set<std::pair<std::string, std::string>>;

/// Entries for places that are not there.
void warn_of_unknown(const PriceBook& book, const Places& places, std::vector<FieldError>& warnings)
{
    for (std::size_t i = 0; i < book.entries.size() && warnings.size() < kMostWarnings; ++i) {
        const PriceEntry& entry = book.entries[i];
        const std::string path = "entries[" + std::to_string(i) + "]";
        const auto first = places.lower_bound({entry.center, ""});
        const bool has_center = first != places.end() && first->first == entry.center;
        if (!has_center)
            warnings.push_back({path + ".center", "the network has no center " + entry.center + " now"});
        else if (entry.unit_type != kEveryUnitType && !places.contains({entry.center, entry.unit_type}))
            warnings.push_back(
                {path + ".unit_type", "center " + entry.center + " has no unit type " + entry.unit_type + " now"});
    }
}

/// Places that no entry is for.
void warn_of_missing(const PriceBook& book, const Places& places, std::vector<FieldError>& warnings)
{
    for (const auto& [center, unit_type] : places) {
        if (warnings.size() >= kMostWarnings) return;
        if (!unit_type.empty() && find_price(book, center, unit_type) == nullptr)
            warnings.push_back({"entries", center + "/" + unit_type + " has no price, so it is taken to be free"});
    }
}

Result<PriceBookAnswer> set_book(pqxx::work& transaction, const Caller& caller, const PriceBookOrder& order)
{
    if (const std::int64_t others = count_other_budgets(transaction, order.book.currency); others > 0)
        return Error{Errc::kConflict, std::to_string(others) + (others == 1 ? " job waits" : " jobs wait") +
                                          " with a budget that is not in " + order.book.currency +
                                          "; let them start or cancel them first"};
    const std::int64_t version = insert_price_book(transaction, to_json(order.book), order.valid_from, caller.actor);
    audit(transaction, caller.actor, "price_book.set", std::to_string(version), caller.request_id,
          {{"currency", order.book.currency}, {"entry_count", order.book.entries.size()}});
    notify(transaction, "catalog", "");
    std::optional<StoredPriceBook> stored = select_price_book(transaction, version);
    FATHOM_ASSERT(stored.has_value());
    PriceBookAnswer answer{std::move(*stored), {}};
    const Places places = select_priced_places(transaction);
    warn_of_unknown(order.book, places, answer.warnings);
    warn_of_missing(order.book, places, answer.warnings);
    return answer;
}

} // namespace

asio::awaitable<Result<Page<PriceBookRecord>>> PriceBooksService::list(std::int64_t size, std::int64_t before)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<PriceBookRecord>> {
        return select_price_books(transaction, size, before);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<StoredPriceBook>> PriceBooksService::get(std::int64_t version)
{
    auto work = [&](pqxx::work& transaction) -> Result<StoredPriceBook> {
        std::optional<StoredPriceBook> book = select_price_book(transaction, version);
        if (!book) return kNoSuchBook;
        return std::move(*book);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<StoredPriceBook>> PriceBooksService::get_in_force()
{
    auto work = [](pqxx::work& transaction) -> Result<StoredPriceBook> {
        std::optional<StoredPriceBook> book = select_price_book_in_force(transaction);
        if (!book) return kNoBookInForce;
        return std::move(*book);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<PriceBookAnswer>> PriceBooksService::set(Caller caller, PriceBookOrder order)
{
    auto work = [&](pqxx::work& transaction) { return set_book(transaction, caller, order); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
