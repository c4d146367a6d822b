#include "server/billing/export_schedule_api.hpp"

#include "core/decide/probing/cron.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/render_page.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

enum class Completeness {
    kAll,  ///< a new schedule
    kSome, ///< a change of one
};

/// A folder and a part of a key are named by it.
bool is_file_name(std::string_view name)
{
    return name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '_' || c == '-';
           });
}

Result<ExportScheduleService::Settings> parse_settings(const Call& call, Completeness completeness)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ExportScheduleService::Settings settings;
    settings.name = reader.optional_string("name", {.min_length = 1, .max_length = 128});
    if (settings.name && !is_file_name(*settings.name))
        reader.fail("name",
                    "must be letters, digits, '.', '_' and '-', and not begin with '.': files lie in a folder of "
                    "this name");
    settings.cron = reader.optional_string("cron", {.min_length = 1, .max_length = 200});
    if (settings.cron) {
        if (const Result<CronSchedule> cron = parse_cron(*settings.cron); !cron)
            reader.fail("cron", cron.error().detail);
    }
    settings.format =
        reader.optional_string("format", {.one_of = {"focus", "jsonl", "ledger", "apel", "apel-summary", "sacct"}});
    settings.months = reader.optional_string("months", {.one_of = {"previous", "current", "all"}});
    if (const Json* parameters = reader.object("parameters"); parameters != nullptr) settings.parameters = *parameters;
    settings.destination = reader.optional_string("destination", {.min_length = 1, .max_length = 600});
    settings.enabled = reader.optional_boolean("enabled");
    if (completeness == Completeness::kAll) {
        for (const char* name : {"name", "cron", "format", "destination"})
            if (!reader.has(name)) reader.fail(name, "is required");
    } else if (json->empty()) {
        errors.push_back({"", "must hold what is to be changed"});
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(settings), std::move(errors), "the export schedule");
}

net::Response schedule_response(int status, const ExportSchedule& schedule)
{
    net::Response response = json_response(status, to_json(schedule));
    response.headers["ETag"] = etag(schedule.version);
    return response;
}

Answer create_schedule(ExportScheduleService* service, Call call)
{
    Result<ExportScheduleService::Settings> settings = parse_settings(call, Completeness::kAll);
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    const Result<ExportSchedule> schedule = co_await service->create(caller_of(call), std::move(*settings));
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    net::Response response = schedule_response(201, *schedule);
    response.headers["Location"] = "/api/v1/export-schedules/" + schedule->id.value;
    co_return response;
}

Answer list_schedules(ExportScheduleService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<ExportSchedule>> schedules = co_await service->list(page->size, page->after);
    if (!schedules) co_return net::problem(schedules.error(), call.request.request_id);
    co_return render_page(*schedules);
}

Answer get_schedule(ExportScheduleService* service, Call call)
{
    const Result<ExportSchedule> schedule = co_await service->get(call.request.path_params["id"]);
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    co_return schedule_response(200, *schedule);
}

Answer change_schedule(ExportScheduleService* service, Call call)
{
    Result<ExportScheduleService::Settings> settings = parse_settings(call, Completeness::kSome);
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    ExportScheduleService::VersionCheck check = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const Result<std::optional<ExportSchedule>> schedule = co_await service->change(
        caller_of(call), call.request.path_params["id"], std::move(*settings), std::move(check));
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    if (!*schedule) co_return precondition_failed(call.request);
    co_return schedule_response(200, **schedule);
}

Answer remove_schedule(ExportScheduleService* service, Call call)
{
    ExportScheduleService::VersionCheck check = [request = &call.request](std::int64_t version) {
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

Answer run_schedule(ExportScheduleService* service, Call call)
{
    const Result<ExportSchedule> schedule = co_await service->run_now(caller_of(call), call.request.path_params["id"]);
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    co_return schedule_response(202, *schedule);
}

} // namespace

void add_export_schedule_routes(ApiRouter& router, ExportScheduleService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kPost, "/export-schedules", Permission::kManageBilling,
               idempotent(database, bind(create_schedule)));
    router.add(Method::kGet, "/export-schedules", Permission::kReadBilling, bind(list_schedules));
    router.add(Method::kGet, "/export-schedules/{id}", Permission::kReadBilling, bind(get_schedule));
    router.add(Method::kPatch, "/export-schedules/{id}", Permission::kManageBilling, bind(change_schedule));
    router.add(Method::kDelete, "/export-schedules/{id}", Permission::kManageBilling, bind(remove_schedule));
    router.add(Method::kPost, "/export-schedules/{id}/run", Permission::kManageBilling, bind(run_schedule));
}

} // namespace fathom::server
