#include "server/calendar/maintenance_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::chrono::days kMaxMaintenance{366};

Result<MaintenanceService::Wanted> parse_maintenance(const Call& call, Timestamp now)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    MaintenanceService::Wanted wanted;
    wanted.center = reader.required_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes});
    wanted.unit_type =
        reader.optional_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes}).value_or("");
    wanted.period = read_period(reader, now, kMaxMaintenance);
    wanted.reason = reader.optional_string("reason", {.max_length = 500}).value_or("");
    if (reader.optional_boolean("cancel_reservations").value_or(false))
        wanted.reservations = MaintenanceService::Reservations::kCancel;
    reader.finish(UnknownFields::kReject);
    if (const auto nul = find_nul(*json)) errors.push_back({*nul, "must not contain a NUL character"});
    return value_or_errors(std::move(wanted), std::move(errors), "the maintenance");
}

Answer plan_maintenance(MaintenanceService* service, const Clock* clock, Call call)
{
    Result<MaintenanceService::Wanted> wanted = parse_maintenance(call, clock->now());
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const Result<MaintenanceService::Planned> planned = co_await service->plan(caller_of(call), std::move(*wanted));
    if (!planned) co_return net::problem(planned.error(), call.request.request_id);
    Json body = to_json(planned->maintenance);
    body["cancelled_reservations"] = planned->cancelled_reservations;
    net::Response response = json_response(201, body);
    response.headers["Location"] = "/api/v1/maintenance-windows/" + planned->maintenance.id.value;
    co_return response;
}

Answer list_maintenance(MaintenanceService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Query& query = call.request.query;
    MaintenanceFilter filter{query_text(query, "center"), query_flag(query, "open").value_or(false)};
    const Result<Page<MaintenanceWindow>> windows = co_await service->list(std::move(filter), page->size, page->after);
    if (!windows) co_return net::problem(windows.error(), call.request.request_id);
    co_return render_page(*windows);
}

Answer get_maintenance(MaintenanceService* service, Call call)
{
    const Result<MaintenanceWindow> maintenance = co_await service->get(call.request.path_params["id"]);
    if (!maintenance) co_return net::problem(maintenance.error(), call.request.request_id);
    co_return json_response(200, to_json(*maintenance));
}

Answer cancel_maintenance(MaintenanceService* service, Call call)
{
    const Result<MaintenanceWindow> maintenance =
        co_await service->cancel(caller_of(call), call.request.path_params["id"]);
    if (!maintenance) co_return net::problem(maintenance.error(), call.request.request_id);
    co_return json_response(200, to_json(*maintenance));
}

} // namespace

void add_maintenance_routes(ApiRouter& router, MaintenanceService& service, Database& database, const Clock& clock)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    ApiHandler plan = [target = &service, time = &clock](Call call) {
        return plan_maintenance(target, time, std::move(call));
    };
    router.add(Method::kPost, "/maintenance-windows", Permission::kManageNetwork,
               idempotent(database, std::move(plan)));
    router.add(Method::kGet, "/maintenance-windows", Permission::kReadNetwork, bind(list_maintenance));
    router.add(Method::kGet, "/maintenance-windows/{id}", Permission::kReadNetwork, bind(get_maintenance));
    router.add(Method::kDelete, "/maintenance-windows/{id}", Permission::kManageNetwork, bind(cancel_maintenance));
}

} // namespace fathom::server
