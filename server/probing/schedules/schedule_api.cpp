#include "server/probing/schedules/schedule_api.hpp"

#include "core/decide/probing/cron.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/record_routes.hpp"
#include "server/probing/orders/run_order.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr const char* kPath = "/probe-schedules";

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

Answer create_schedule(ScheduleService* service, Call call)
{
    Result<ScheduleService::Settings> settings = parse_settings(call, Completeness::kAll);
    return create_record(service, std::move(call), std::move(settings), kPath);
}

Answer change_schedule(ScheduleService* service, Call call)
{
    Result<ScheduleService::Settings> settings = parse_settings(call, Completeness::kSome);
    return change_record(service, std::move(call), std::move(settings));
}

} // namespace

void add_schedule_routes(ApiRouter& router, ScheduleService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    const std::string one = std::string(kPath) + "/{id}";
    router.add(Method::kPost, kPath, Permission::kManageMetering, idempotent(database, bind(create_schedule)),
               kLargeBodyBytes);
    router.add(Method::kGet, kPath, Permission::kReadNetwork, bind(list_records<ScheduleService>));
    router.add(Method::kGet, one, Permission::kReadNetwork, bind(get_record<ScheduleService>));
    router.add(Method::kPatch, one, Permission::kManageMetering, bind(change_schedule), kLargeBodyBytes);
    router.add(Method::kDelete, one, Permission::kManageMetering, bind(remove_record<ScheduleService>));
}

} // namespace fathom::server
