#include "server/billing/price_books_api.hpp"

#include "core/base/parse_number.hpp"
#include "core/model/money.hpp"
#include "server/api/caller.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// A version from 1 on; 0 when it is none.
std::int64_t parse_version(const std::string& text)
{
    return std::max<std::int64_t>(parse_number<std::int64_t>(text).value_or(0), 0);
}

Json book_json(const StoredPriceBook& book)
{
    Json json = to_json(book.record);
    json["document"] = book.document;
    return json;
}

Json warnings_json(const std::vector<FieldError>& warnings)
{
    Json json = Json::array();
    for (const FieldError& warning : warnings)
        json.push_back({{"field", warning.field}, {"detail", warning.detail}});
    return json;
}

void read_document(ObjectReader& reader, PriceBook& book)
{
    if (!reader.has("document")) return reader.fail("document", "is required");
    const Json* document = reader.object("document");
    if (document == nullptr) return;
    Result<PriceBook> parsed = parse_price_book(*document);
    if (parsed) {
        book = std::move(*parsed);
        return;
    }
    const Error error = parsed.error();
    for (const FieldError& field : error.fields)
        reader.fail("document" + (field.field.empty() ? "" : "." + field.field), field.detail);
}

Result<PriceBookOrder> parse_order(const Call& call, Timestamp now)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    PriceBookOrder order;
    order.valid_from = reader.optional_time("valid_from");
    if (order.valid_from && *order.valid_from < now)
        reader.fail("valid_from", "has passed: it is " + format_rfc3339(now) + " now; leave it out for now");
    read_document(reader, order.book);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the price book");
}

Answer list_books(PriceBooksService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<PriceBookRecord>> books = co_await service->list(page->size, parse_version(page->after));
    if (!books) co_return net::problem(books.error(), call.request.request_id);
    co_return render_page(*books);
}

Answer get_current(PriceBooksService* service, Call call)
{
    const Result<StoredPriceBook> book = co_await service->get_in_force();
    if (!book) co_return net::problem(book.error(), call.request.request_id);
    co_return json_response(200, book_json(*book));
}

Answer get_book(PriceBooksService* service, Call call)
{
    // No version is 0, so whatever is no number is not found.
    const Result<StoredPriceBook> book = co_await service->get(parse_version(call.request.path_params["version"]));
    if (!book) co_return net::problem(book.error(), call.request.request_id);
    co_return json_response(200, book_json(*book));
}

Answer set_book(PriceBooksService* service, const Clock* clock, Call call)
{
    Result<PriceBookOrder> order = parse_order(call, clock->now());
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<PriceBookAnswer> answer = co_await service->set(caller_of(call), std::move(*order));
    if (!answer) co_return net::problem(answer.error(), call.request.request_id);
    Json json = book_json(answer->book);
    json["warnings"] = warnings_json(answer->warnings);
    net::Response response = json_response(201, json);
    response.headers["Location"] = "/api/v1/price-books/" + std::to_string(answer->book.record.version);
    co_return response;
}

/// `{"document", "from", "until"}`: until is now where it is left out.
struct TrialOrder {
    PriceBook book;
    Timestamp from{};
    Timestamp until{};
};

Result<TrialOrder> parse_trial(const Call& call, Timestamp now)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    TrialOrder order;
    if (!reader.has("from")) reader.fail("from", "is required");
    order.from = reader.optional_time("from").value_or(now);
    order.until = reader.optional_time("until").value_or(now);
    read_document(reader, order.book);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the trial");
}

Json trial_json(const PriceTrial& trial)
{
    Json projects = Json::array();
    for (const auto& [name, project] : trial.projects) {
        Json billed = Json::object();
        for (const auto& [currency, micros] : project.billed_micros)
            billed[currency] = format_amount(micros);
        projects.push_back(
            {{"project", name}, {"trial_cost", format_amount(project.trial_micros)}, {"billed", std::move(billed)}});
    }
    return {{"currency", trial.currency}, {"usage_records", trial.usage_records}, {"projects", std::move(projects)}};
}

Answer try_book(PriceBooksService* service, const Clock* clock, Call call)
{
    Result<TrialOrder> order = parse_trial(call, clock->now());
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<PriceTrial> trial = co_await service->try_book(std::move(order->book), order->from, order->until);
    if (!trial) co_return net::problem(trial.error(), call.request.request_id);
    co_return json_response(200, trial_json(*trial));
}

} // namespace

void add_price_books_routes(ApiRouter& router, PriceBooksService& service, Database& database, const Clock& clock)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/price-books", Permission::kReadNetwork, bind(list_books));
    router.add(Method::kGet, "/price-books/current", Permission::kReadNetwork, bind(get_current));
    router.add(Method::kGet, "/price-books/{version}", Permission::kReadNetwork, bind(get_book));
    router.add(Method::kPost, "/price-books", Permission::kManagePrices,
               idempotent(database, [target = &service,
                                     time = &clock](Call call) { return set_book(target, time, std::move(call)); }),
               kLargeBodyBytes);
    router.add(
        Method::kPost, "/price-books:try", Permission::kManagePrices,
        [target = &service, time = &clock](Call call) { return try_book(target, time, std::move(call)); },
        kLargeBodyBytes);
}

} // namespace fathom::server
