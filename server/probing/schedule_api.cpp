#include "server/probing/schedule_api.hpp"

#include "core/decide/probing/cron.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/render_page.hpp"
#include "server/probing/run_order.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

enum class Completeness {
    kAll,  ///< a new schedule
    kSome, ///< a change of one
};

void read_order(ObjectReader& reader, ScheduleService::Settings& settings, std::vector<FieldError>& errors)
{
    const Json* order = reader.object("order");
    if (order == nullptr) return;
    settings.order = *order;
    const Result<RunOrder> parsed = parse_run_order(*order);
    if (parsed) return;
    const Error error = parsed.error();
    for (const FieldError& field : error.fields)
        errors.push_back({field.field.empty() ? "order" : "order." + field.field, field.detail});
}

Result<ScheduleService::Settings> parse_settings(const Call& call, Completeness completeness)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ScheduleService::Settings settings;
    settings.name = reader.optional_string("name", {.min_length = 1, .max_length = 128});
    settings.cron = reader.optional_string("cron", {.min_length = 1, .max_length = 200});
    if (settings.cron) {
        if (const Result<CronSchedule> cron = parse_cron(*settings.cron); !cron)
            reader.fail("cron", cron.error().detail);
    }
    read_order(reader, settings, errors);
    settings.enabled = reader.optional_boolean("enabled");
    if (completeness == Completeness::kAll) {
        for (const char* name : {"name", "cron", "order"})
            if (!reader.has(name)) reader.fail(name, "is required");
    } else if (!settings.name && !settings.cron && !settings.order && !settings.enabled && errors.empty()) {
        errors.push_back({"", "must hold \"name\", \"cron\", \"order\" or \"enabled\""});
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(settings), std::move(errors), "the probe schedule");
}

net::Response schedule_response(int status, const ProbeSchedule& schedule)
{
    net::Response response = json_response(status, to_json(schedule));
    response.headers["ETag"] = etag(schedule.version);
    return response;
}

Answer create_schedule(ScheduleService* service, Call call)
{
    Result<ScheduleService::Settings> settings = parse_settings(call, Completeness::kAll);
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    const Result<ProbeSchedule> schedule = co_await service->create(caller_of(call), std::move(*settings));
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    net::Response response = schedule_response(201, *schedule);
    response.headers["Location"] = "/api/v1/probe-schedules/" + schedule->id.value;
    co_return response;
}

Answer list_schedules(ScheduleService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<ProbeSchedule>> schedules = co_await service->list(page->size, page->after);
    if (!schedules) co_return net::problem(schedules.error(), call.request.request_id);
    co_return render_page(*schedules);
}

Answer get_schedule(ScheduleService* service, Call call)
{
    const Result<ProbeSchedule> schedule = co_await service->get(call.request.path_params["id"]);
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    co_return schedule_response(200, *schedule);
}

Answer change_schedule(ScheduleService* service, Call call)
{
    Result<ScheduleService::Settings> settings = parse_settings(call, Completeness::kSome);
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    ScheduleService::VersionCheck check = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const Result<std::optional<ProbeSchedule>> schedule = co_await service->change(
        caller_of(call), call.request.path_params["id"], std::move(*settings), std::move(check));
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    if (!*schedule) co_return precondition_failed(call.request);
    co_return schedule_response(200, **schedule);
}

Answer remove_schedule(ScheduleService* service, Call call)
{
    ScheduleService::VersionCheck check = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const Result<bool> removed =
        co_await service->remove(caller_of(call), call.request.path_params["id"], std::move(check));
    if (!removed) co_return net::problem(removed.error(), call.request.request_id);
    if (!*removed) co_return precondition_failed(call.request);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace

void add_schedule_routes(ApiRouter& router, ScheduleService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kPost, "/probe-schedules", Permission::kManageMetering,
               idempotent(database, bind(create_schedule)), kLargeBodyBytes);
    router.add(Method::kGet, "/probe-schedules", Permission::kReadNetwork, bind(list_schedules));
    router.add(Method::kGet, "/probe-schedules/{id}", Permission::kReadNetwork, bind(get_schedule));
    router.add(Method::kPatch, "/probe-schedules/{id}", Permission::kManageMetering, bind(change_schedule),
               kLargeBodyBytes);
    router.add(Method::kDelete, "/probe-schedules/{id}", Permission::kManageMetering, bind(remove_schedule));
}

} // namespace fathom::server
