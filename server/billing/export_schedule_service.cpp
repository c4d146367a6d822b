#include "server/billing/export_schedule_service.hpp"

#include "core/decide/billing/export_calendar.hpp"
#include "server/billing/scheduled_export.hpp"
#include "server/identity/audit.hpp"

namespace fathom::server {
namespace {

Error no_such_schedule()
{
    return Error{Errc::kNotFound, "no such export schedule"};
}

Error name_taken(const std::string& name)
{
    return Error{Errc::kConflict, "there is an export schedule \"" + name + "\" already"};
}

/// The first moment that a schedule runs for; empty while it is not enabled.
Result<std::optional<Timestamp>> first_due(const ExportSchedule& schedule, Timestamp now)
{
    if (!schedule.is_enabled) return std::optional<Timestamp>();
    const Result<CronSchedule> cron = parse_cron(schedule.cron);
    if (!cron) return cron.error();
    return std::optional(next_time(*cron, now));
}

Json audit_details(const ExportSchedule& schedule)
{
    return {{"name", schedule.name},
            {"cron", schedule.cron},
            {"format", schedule.format},
            {"destination", schedule.destination},
            {"enabled", schedule.is_enabled}};
}

} // namespace

Result<void> ExportScheduleService::check(const ExportSchedule& schedule) const
{
    std::vector<FieldError> errors;
    // Of any month, for what is wrong with one is wrong with all.
    const Result<ScheduledExport> wanted = scheduled_export(schedule, clock_->now());
    if (!wanted) {
        const Error error = wanted.error();
        errors = error.fields;
        if (errors.empty()) errors.push_back({"format", error.detail});
    }
    const Result<ExportDestination> destination = parse_export_destination(schedule.destination, places_);
    if (!destination) errors.push_back({"destination", destination.error().detail});
    if (errors.empty()) return {};
    return value_or_errors(0, std::move(errors), "the export schedule").error();
}

Result<ExportSchedule> ExportScheduleService::create_in(pqxx::work& transaction, const Caller& caller,
                                                        const Settings& settings) const
{
    ExportSchedule schedule{.id = ExportScheduleId::make(),
                            .name = settings.name.value(),
                            .cron = settings.cron.value(),
                            .format = settings.format.value(),
                            .months = settings.months.value_or(settings.format == "ledger" ? "all" : "previous"),
                            .parameters = settings.parameters.value_or(Json::object()),
                            .destination = settings.destination.value(),
                            .is_enabled = settings.enabled.value_or(true),
                            .created_by = caller.actor};
    if (const Result<void> checked = check(schedule); !checked) return checked.error();
    if (count_export_schedules(transaction) >= kMaxExportSchedules)
        return Error{Errc::kTooMany, "there are " + std::to_string(kMaxExportSchedules) + " export schedules already"};
    const Result<std::optional<Timestamp>> due = first_due(schedule, clock_->now());
    if (!due) return due.error();
    schedule.due_at = *due;
    if (!insert_export_schedule(transaction, schedule)) return name_taken(schedule.name);
    audit(transaction, caller.actor, "export_schedule.create", schedule.id.value, caller.request_id,
          audit_details(schedule));
    return select_export_schedule(transaction, schedule.id.value).value();
}

asio::awaitable<Result<ExportSchedule>> ExportScheduleService::create(Caller caller, Settings settings)
{
    auto work = [&](pqxx::work& transaction) { return create_in(transaction, caller, settings); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<ExportSchedule>>> ExportScheduleService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ExportSchedule>> {
        return select_export_schedules(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ExportSchedule>> ExportScheduleService::get(std::string key)
{
    auto work = [&](pqxx::work& transaction) -> Result<ExportSchedule> {
        std::optional<ExportSchedule> schedule = select_export_schedule(transaction, key);
        if (!schedule) return no_such_schedule();
        return std::move(*schedule);
    };
    co_return co_await database_->run(std::move(work));
}

Result<std::optional<ExportSchedule>> ExportScheduleService::change_in(pqxx::work& transaction, const Caller& caller,
                                                                       const std::string& key, const Settings& settings,
                                                                       const VersionCheck& may_change) const
{
    std::optional<ExportSchedule> schedule = lock_export_schedule(transaction, key);
    if (!schedule) return no_such_schedule();
    if (!may_change(schedule->version)) return std::optional<ExportSchedule>();
    const bool is_new_time = (settings.cron && *settings.cron != schedule->cron) ||
                             (settings.enabled && *settings.enabled != schedule->is_enabled);
    schedule->name = settings.name.value_or(schedule->name);
    schedule->cron = settings.cron.value_or(schedule->cron);
    schedule->format = settings.format.value_or(schedule->format);
    schedule->months = settings.months.value_or(schedule->months);
    schedule->parameters = settings.parameters.value_or(schedule->parameters);
    schedule->destination = settings.destination.value_or(schedule->destination);
    schedule->is_enabled = settings.enabled.value_or(schedule->is_enabled);
    if (const Result<void> checked = check(*schedule); !checked) return checked.error();
    if (is_new_time) {
        const Result<std::optional<Timestamp>> due = first_due(*schedule, clock_->now());
        if (!due) return due.error();
        schedule->due_at = *due;
    }
    // Who changes a schedule whose runs fail has mended it, most likely: no need to wait any longer.
    schedule->next_run_at = schedule->due_at;
    schedule->failures = 0;
    if (!update_export_schedule(transaction, *schedule)) return name_taken(schedule->name);
    audit(transaction, caller.actor, "export_schedule.change", schedule->id.value, caller.request_id,
          audit_details(*schedule));
    return select_export_schedule(transaction, schedule->id.value);
}

asio::awaitable<Result<std::optional<ExportSchedule>>>
ExportScheduleService::change(Caller caller, std::string key, Settings settings, VersionCheck may_change)
{
    auto work = [&](pqxx::work& transaction) { return change_in(transaction, caller, key, settings, may_change); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<bool>> ExportScheduleService::remove(Caller caller, std::string key, VersionCheck may_change)
{
    auto work = [&](pqxx::work& transaction) -> Result<bool> {
        const std::optional<ExportSchedule> schedule = lock_export_schedule(transaction, key);
        if (!schedule) return no_such_schedule();
        if (!may_change(schedule->version)) return false;
        delete_export_schedule(transaction, schedule->id);
        audit(transaction, caller.actor, "export_schedule.remove", schedule->id.value, caller.request_id,
              {{"name", schedule->name}});
        return true;
    };
    co_return co_await database_->run(std::move(work));
}

Result<ExportSchedule> ExportScheduleService::run_now_in(pqxx::work& transaction, const Caller& caller,
                                                         const std::string& key) const
{
    std::optional<ExportSchedule> schedule = lock_export_schedule(transaction, key);
    if (!schedule) return no_such_schedule();
    if (!schedule->is_enabled) return Error{Errc::kConflict, "the schedule is not enabled"};
    const Timestamp now = clock_->now();
    schedule->due_at = std::min(schedule->due_at.value_or(now), now);
    schedule->next_run_at = now;
    update_export_schedule(transaction, *schedule);
    audit(transaction, caller.actor, "export_schedule.run", schedule->id.value, caller.request_id,
          {{"name", schedule->name}});
    return select_export_schedule(transaction, schedule->id.value).value();
}

asio::awaitable<Result<ExportSchedule>> ExportScheduleService::run_now(Caller caller, std::string key)
{
    auto work = [&](pqxx::work& transaction) { return run_now_in(transaction, caller, key); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
