#include "server/balance/balance_api.hpp"

#include "core/base/parse_number.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

#include <limits>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

BalancedUnitKey key_of(const Call& call)
{
    return {call.request.path_params.at("id"), call.request.path_params.at("unit")};
}

Result<BalanceService::History> parse_history(const Call& call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) return page.error();
    const std::optional<std::int64_t> before =
        page->after.empty() ? std::numeric_limits<std::int64_t>::max() : parse_number<std::int64_t>(page->after);
    if (!before) return Error{Errc::kInvalid, "page_token is not one of this list's"};
    BalanceService::History wanted{key_of(call), std::nullopt, *before, page->size, job_scope_of(call.principal)};
    if (const std::string since = query_text(call.request.query, "since"); !since.empty()) {
        const Result<Timestamp> time = parse_rfc3339(since);
        if (!time) return time.error();
        wanted.since = *time;
    }
    return wanted;
}

Result<BalanceFollowers::Wanted> parse_wanted(const Call& call)
{
    BalanceFollowers::Wanted wanted{key_of(call), query_integer(call.request.query, "after"),
                                    job_scope_of(call.principal)};
    // Of a client that comes again: later than what it began with.
    const std::string_view last = call.request.header("Last-Event-ID");
    if (last.empty()) return wanted;
    wanted.after = parse_number<std::int64_t>(last);
    if (wanted.after && *wanted.after >= 0) return wanted;
    return Error(Errc::kInvalid, "the request has 1 error", {{"Last-Event-ID", "must be the number of a step"}});
}

Answer list_balanced_units(BalanceService* balance, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<BalancedUnitRecord>> units = co_await balance->units(
        query_text(call.request.query, "center"), page->size, page->after, job_scope_of(call.principal));
    if (!units) co_return net::problem(units.error(), call.request.request_id);
    co_return render_page(*units);
}

Answer list_balance_steps(BalanceService* balance, Call call)
{
    Result<BalanceService::History> wanted = parse_history(call);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const Result<Page<BalanceStepRecord>> steps = co_await balance->history(std::move(*wanted));
    if (!steps) co_return net::problem(steps.error(), call.request.request_id);
    co_return render_page(*steps);
}

Answer stream_balance(BalanceService* balance, Call call)
{
    Result<BalanceFollowers::Wanted> wanted = parse_wanted(call);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    BalanceFollowers* const followers = &balance->followers();
    const Result<BalancedUnitRow> unit = co_await followers->find(wanted->key);
    if (!unit) co_return net::problem(unit.error(), call.request.request_id);
    if (!wanted->after) wanted->after = unit->last_number;
    Result<std::shared_ptr<const void>> place = followers->take_place();
    if (!place) co_return net::problem(place.error(), call.request.request_id);
    net::Response response;
    response.headers["Content-Type"] = "text/event-stream";
    response.headers["Cache-Control"] = "no-store";
    response.stream = [followers, wanted = std::move(*wanted),
                       place = std::move(*place)](std::shared_ptr<net::BodyWriter> writer) {
        return followers->stream(wanted, place, std::move(writer));
    };
    co_return response;
}

} // namespace

void add_balance_routes(ApiRouter& api, BalanceService& balance)
{
    api.add(net::Method::kGet, "/balanced-units", Permission::kReadNetwork,
            [service = &balance](Call call) { return list_balanced_units(service, std::move(call)); });
    api.add(net::Method::kGet, "/centers/{id}/units/{unit}/balance", Permission::kReadNetwork,
            [service = &balance](Call call) { return list_balance_steps(service, std::move(call)); });
    api.add(net::Method::kGet, "/centers/{id}/units/{unit}/balance/events", Permission::kReadNetwork,
            [service = &balance](Call call) { return stream_balance(service, std::move(call)); });
}

} // namespace fathom::server
