#include "server/billing/price_books_service.hpp"

#include "core/model/price_book.hpp"
#include "server/billing/usage_store.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

#include <memory>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxWarnings = 200;
const Error kNoSuchBook{Errc::kNotFound, "there is no such version of the price book"};
const Error kNoBookInForce{Errc::kNotFound, "no price book is in force: nothing has a price"};

using Places = std::set<std::pair<std::string, std::string>>;

/// Entries for places that are not there.
void warn_of_unknown(const PriceBook& book, const Places& places, std::vector<FieldError>& warnings)
{
    for (std::size_t i = 0; i < book.entries.size() && warnings.size() < kMaxWarnings; ++i) {
        const PriceEntry& entry = book.entries[i];
        if (entry.center == kEveryUnitType) continue;
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
        if (warnings.size() >= kMaxWarnings) return;
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

constexpr std::int64_t kUsageOfPage = 4000;

/// @error kInvalid  an amount is too large.
Result<void> add_to_trial(PriceTrial& trial, const std::vector<RateBook>& books,
                          const std::vector<UsageRecord>& records)
{
    for (const UsageRecord& record : records) {
        if (record.payer != Payer::kProject) continue;
        const Result<std::vector<Charge>> charges = rate(usage_of(record), books);
        if (!charges) return charges.error();
        ++trial.usage_records;
        std::int64_t& sum = trial.projects[record.project].trial_micros;
        for (const Charge& charge : *charges)
            sum += charge.billed_micros;
    }
    return {};
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

asio::awaitable<Result<PriceTrial>> PriceBooksService::try_book(PriceBook book, Timestamp from, Timestamp until)
{
    const auto trial = std::make_shared<PriceTrial>();
    trial->currency = book.currency;
    const auto books = std::make_shared<std::vector<RateBook>>();
    books->emplace_back(0, Timestamp::min(), std::move(book));
    UsageFilter filter;
    filter.from = from;
    filter.until = until;
    filter.newest_revisions = true;
    using Records = std::shared_ptr<std::vector<UsageRecord>>;
    for (std::int64_t after = 0;;) {
        auto read = [filter, after](pqxx::work& transaction) -> Result<Records> {
            return std::make_shared<std::vector<UsageRecord>>(
                select_usage_after(transaction, filter, after, kUsageOfPage));
        };
        const Result<Records> page = co_await database_->run(std::move(read));
        if (!page) co_return page.error();
        if ((*page)->empty()) break;
        after = (*page)->back().id;
        auto rate_page = [trial, books, records = *page] { return add_to_trial(*trial, *books, *records); };
        const Result<void> rated = co_await compute_->run("", std::move(rate_page));
        if (!rated) co_return rated.error();
    }
    auto compare = [trial, filter](pqxx::work& transaction) -> Result<PriceTrial> {
        for (const BilledProject& billed : select_billed(transaction, filter))
            trial->projects[billed.project].billed_micros[billed.currency] = billed.billed_micros;
        return *trial;
    };
    co_return co_await database_->run(std::move(compare));
}

} // namespace fathom::server
