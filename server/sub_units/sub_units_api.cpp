#include "server/sub_units/sub_units_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::int64_t kMaxSubUnits = 1'000'000;

Result<SubUnitsService::Wanted> parse_wanted(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    SubUnitsService::Wanted wanted;
    wanted.center = reader.required_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes});
    wanted.kind = reader.required_string("kind", {.min_length = 1, .max_length = 64});
    wanted.action = reader.required_string("action", {.one_of = {"release", "gain", "balance"}});
    wanted.reason = reader.optional_string("reason", {.max_length = 500}).value_or("");
    if (wanted.action == "balance") {
        wanted.transfer_load = reader.required_number("transfer_load", 0, 1);
        wanted.compute_load = reader.required_number("compute_load", 0, 1);
    } else {
        wanted.count = reader.required_integer("count", 1, kMaxSubUnits);
    }
    reader.finish(UnknownFields::kReject);
    if (const auto nul = find_nul(*json)) errors.push_back({*nul, "must not contain a NUL character"});
    return value_or_errors(std::move(wanted), std::move(errors), "the request");
}

SubUnitFilter filter_of(const Query& query)
{
    return {.kind = query_text(query, "kind"),
            .center = query_text(query, "center"),
            .is_open_only = query_flag(query, "open").value_or(false)};
}

net::Response request_response(const Call& call, const Result<SubUnitRequestRecord>& request, int status)
{
    if (!request) return net::problem(request.error(), call.request.request_id);
    net::Response response = json_response(status, to_json(*request));
    if (status == 201) response.headers["Location"] = "/api/v1/sub-unit-requests/" + request->id.value;
    return response;
}

Answer ask_for_sub_units(SubUnitsService* service, Call call)
{
    Result<SubUnitsService::Wanted> wanted = parse_wanted(call);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const Result<SubUnitRequestRecord> request = co_await service->ask(caller_of(call), std::move(*wanted));
    co_return request_response(call, request, 201);
}

Answer get_sub_unit_request(SubUnitsService* service, Call call)
{
    const Result<SubUnitRequestRecord> request = co_await service->get_request(call.request.path_params["id"]);
    co_return request_response(call, request, 200);
}

Answer cancel_sub_unit_request(SubUnitsService* service, Call call)
{
    const Result<SubUnitRequestRecord> request =
        co_await service->cancel(caller_of(call), call.request.path_params["id"]);
    co_return request_response(call, request, 200);
}

Answer undo_sub_unit_grant(SubUnitsService* service, Call call)
{
    const Result<SubUnitRequestRecord> request =
        co_await service->undo(caller_of(call), call.request.path_params["id"]);
    co_return request_response(call, request, 201);
}

Answer list_sub_units(SubUnitsService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<SubUnitKindRecord>> kinds = co_await service->list_kinds(page->size, page->after);
    if (!kinds) co_return net::problem(kinds.error(), call.request.request_id);
    co_return render_page(*kinds);
}

/// A page of what a filter lets pass.
template <class Record>
Answer list_filtered(SubUnitsService* service, Call call,
                     asio::awaitable<Result<Page<Record>>> (SubUnitsService::*list)(SubUnitFilter filter,
                                                                                    std::int64_t size,
                                                                                    std::string after))
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    SubUnitFilter filter = filter_of(call.request.query);
    const Result<Page<Record>> records = co_await (service->*list)(std::move(filter), page->size, page->after);
    if (!records) co_return net::problem(records.error(), call.request.request_id);
    co_return render_page(*records);
}

Answer list_sub_unit_requests(SubUnitsService* service, Call call)
{
    return list_filtered(service, std::move(call), &SubUnitsService::list_requests);
}

Answer list_sub_unit_grants(SubUnitsService* service, Call call)
{
    return list_filtered(service, std::move(call), &SubUnitsService::list_grants);
}

Answer list_sub_unit_events(SubUnitsService* service, Call call)
{
    return list_filtered(service, std::move(call), &SubUnitsService::list_events);
}

} // namespace

void add_sub_unit_routes(ApiRouter& router, SubUnitsService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/sub-units", Permission::kReadNetwork, bind(list_sub_units));
    router.add(Method::kPost, "/sub-unit-requests", Permission::kManageNetwork,
               idempotent(database, bind(ask_for_sub_units)));
    router.add(Method::kGet, "/sub-unit-requests", Permission::kReadNetwork, bind(list_sub_unit_requests));
    router.add(Method::kGet, "/sub-unit-requests/{id}", Permission::kReadNetwork, bind(get_sub_unit_request));
    router.add(Method::kDelete, "/sub-unit-requests/{id}", Permission::kManageNetwork, bind(cancel_sub_unit_request));
    router.add(Method::kGet, "/sub-unit-grants", Permission::kReadNetwork, bind(list_sub_unit_grants));
    router.add(Method::kPost, "/sub-unit-grants/{id}:undo", Permission::kManageNetwork,
               idempotent(database, bind(undo_sub_unit_grant)));
    router.add(Method::kGet, "/sub-unit-events", Permission::kReadNetwork, bind(list_sub_unit_events));
}

} // namespace fathom::server
