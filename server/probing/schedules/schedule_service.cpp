#include "server/probing/schedules/schedule_service.hpp"

#include "core/decide/probing/cron.hpp"
#include "server/identity/audit.hpp"
#include "server/probing/orders/run_order.hpp"
#include "server/probing/tasks/probe_task_store.hpp"

namespace fathom::server {
namespace {

Error no_such_schedule()
{
    return Error{Errc::kNotFound, "no such probe schedule"};
}

Error name_taken(const std::string& name)
{
    return Error{Errc::kConflict, "there is a probe schedule \"" + name + "\" already"};
}

/// When a schedule runs next; empty while it is not enabled.
Result<std::optional<Timestamp>> next_run(const ProbeSchedule& schedule, Timestamp now)
{
    if (!schedule.is_enabled) return std::optional<Timestamp>();
    const Result<CronSchedule> cron = parse_cron(schedule.cron);
    if (!cron) return cron.error();
    return std::optional(next_time(*cron, now));
}

} // namespace

/// Finds what can be found wrong with an order before its first run.
Result<void> ScheduleService::check_order(pqxx::work& transaction, const Json& json) const
{
    const Result<RunOrder> order = parse_run_order(json);
    if (!order) return order.error();
    std::vector<FieldError> errors;
    operators_->library()->resolve(order->operators, "order.operators", errors);
    if (!order->probe_task_id.empty() && !select_task(transaction, order->probe_task_id))
        errors.push_back({"order.probe_task_id", "is not a probe task"});
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the schedule's order asks for what is not there", std::move(errors)};
}

Result<ProbeSchedule> ScheduleService::create_in(pqxx::work& transaction, const Caller& caller,
                                                 const Settings& settings) const
{
    ProbeSchedule schedule{.id = ProbeScheduleId::make(),
                           .name = settings.name.value(),
                           .cron = settings.cron.value(),
                           .order = settings.order.value(),
                           .is_enabled = settings.enabled.value_or(true),
                           .created_by = caller.actor};
    if (const Result<void> checked = check_order(transaction, schedule.order); !checked) return checked.error();
    const Result<std::optional<Timestamp>> next = next_run(schedule, clock_->now());
    if (!next) return next.error();
    schedule.next_run_at = *next;
    if (!insert_schedule(transaction, schedule)) return name_taken(schedule.name);
    audit(transaction, caller.actor, "probe_schedule.create", schedule.id.value, caller.request_id,
          {{"name", schedule.name}, {"cron", schedule.cron}});
    return select_schedule(transaction, schedule.id.value).value();
}

asio::awaitable<Result<ProbeSchedule>> ScheduleService::create(Caller caller, Settings settings)
{
    auto work = [&](pqxx::work& transaction) { return create_in(transaction, caller, settings); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<ProbeSchedule>>> ScheduleService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProbeSchedule>> {
        return select_schedules(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProbeSchedule>> ScheduleService::get(std::string key)
{
    auto work = [&](pqxx::work& transaction) -> Result<ProbeSchedule> {
        std::optional<ProbeSchedule> schedule = select_schedule(transaction, key);
        if (!schedule) return no_such_schedule();
        return std::move(*schedule);
    };
    co_return co_await database_->run(std::move(work));
}

Result<std::optional<ProbeSchedule>> ScheduleService::change_in(pqxx::work& transaction, const Caller& caller,
                                                                const std::string& key, const Settings& settings,
                                                                const VersionCheck& check) const
{
    std::optional<ProbeSchedule> schedule = lock_schedule(transaction, key);
    if (!schedule) return no_such_schedule();
    if (!check(schedule->version)) return std::optional<ProbeSchedule>();
    const bool is_new_time = (settings.cron && *settings.cron != schedule->cron) ||
                             (settings.enabled && *settings.enabled != schedule->is_enabled);
    schedule->name = settings.name.value_or(schedule->name);
    schedule->cron = settings.cron.value_or(schedule->cron);
    schedule->order = settings.order.value_or(schedule->order);
    schedule->is_enabled = settings.enabled.value_or(schedule->is_enabled);
    if (settings.order) {
        if (const Result<void> checked = check_order(transaction, schedule->order); !checked) return checked.error();
    }
    if (is_new_time) {
        const Result<std::optional<Timestamp>> next = next_run(*schedule, clock_->now());
        if (!next) return next.error();
        schedule->next_run_at = *next;
    }
    if (!update_schedule(transaction, *schedule)) return name_taken(schedule->name);
    audit(transaction, caller.actor, "probe_schedule.change", schedule->id.value, caller.request_id,
          {{"name", schedule->name}, {"cron", schedule->cron}, {"enabled", schedule->is_enabled}});
    return select_schedule(transaction, schedule->id.value);
}

asio::awaitable<Result<std::optional<ProbeSchedule>>> ScheduleService::change(Caller caller, std::string key,
                                                                              Settings settings, VersionCheck check)
{
    auto work = [&](pqxx::work& transaction) { return change_in(transaction, caller, key, settings, check); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<bool>> ScheduleService::remove(Caller caller, std::string key, VersionCheck check)
{
    auto work = [&](pqxx::work& transaction) -> Result<bool> {
        const std::optional<ProbeSchedule> schedule = lock_schedule(transaction, key);
        if (!schedule) return no_such_schedule();
        if (!check(schedule->version)) return false;
        delete_schedule(transaction, schedule->id);
        audit(transaction, caller.actor, "probe_schedule.remove", schedule->id.value, caller.request_id,
              {{"name", schedule->name}});
        return true;
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
