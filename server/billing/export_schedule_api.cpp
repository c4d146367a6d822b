#include "server/billing/export_schedule_api.hpp"

#include "core/decide/probing/cron.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/record_routes.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr const char* kPath = "/export-schedules";

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

Answer create_schedule(ExportScheduleService* service, Call call)
{
    Result<ExportScheduleService::Settings> settings = parse_settings(call, Completeness::kAll);
    return create_record(service, std::move(call), std::move(settings), kPath);
}

Answer change_schedule(ExportScheduleService* service, Call call)
{
    Result<ExportScheduleService::Settings> settings = parse_settings(call, Completeness::kSome);
    return change_record(service, std::move(call), std::move(settings));
}

Answer run_schedule(ExportScheduleService* service, Call call)
{
    const Result<ExportSchedule> schedule = co_await service->run_now(caller_of(call), call.request.path_params["id"]);
    if (!schedule) co_return net::problem(schedule.error(), call.request.request_id);
    co_return record_response(202, *schedule);
}

} // namespace

void add_export_schedule_routes(ApiRouter& router, ExportScheduleService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    const std::string one = std::string(kPath) + "/{id}";
    router.add(Method::kPost, kPath, Permission::kManageBilling, idempotent(database, bind(create_schedule)));
    router.add(Method::kGet, kPath, Permission::kReadBilling, bind(list_records<ExportScheduleService>));
    router.add(Method::kGet, one, Permission::kReadBilling, bind(get_record<ExportScheduleService>));
    router.add(Method::kPatch, one, Permission::kManageBilling, bind(change_schedule));
    router.add(Method::kDelete, one, Permission::kManageBilling, bind(remove_record<ExportScheduleService>));
    router.add(Method::kPost, one + "/run", Permission::kManageBilling, bind(run_schedule));
}

} // namespace fathom::server
