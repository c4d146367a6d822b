#include "server/app/rooms_state.hpp"

#include "server/centers/authority_api.hpp"
#include "server/centers/diversity_api.hpp"
#include "server/centers/gpus/shared_gpu_gauges.hpp"
#include "server/centers/gpus/shared_gpus_api.hpp"
#include "server/centers/resources_api.hpp"
#include "server/centers/unit_use_api.hpp"
#include "server/identity/audit_api.hpp"
#include "server/identity/identity_api.hpp"
#include "server/identity/oidc/oidc_store.hpp"
#include "server/metering/speedup_api.hpp"
#include "server/probing/results/comparison_api.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kOidcCleanUpPeriod = 600s;
constexpr std::chrono::seconds kSubUnitsPeriod = 1s;
constexpr std::chrono::seconds kSharedGpusPeriod = 5s;
constexpr std::chrono::seconds kLearningPeriod = 2s;
constexpr std::chrono::seconds kQuarantinePeriod = 2s;
constexpr std::chrono::seconds kLostRunsPeriod = 2s;
constexpr std::chrono::seconds kProjectUsePeriod = 5s;
constexpr std::chrono::seconds kStoredUsePeriod = 5s;
constexpr std::chrono::seconds kScalingStepPeriod = 10s;
constexpr std::chrono::seconds kProbeRequestPeriod = 2s;
constexpr std::chrono::seconds kCyclesPeriod = 30s; // a thousand jobs that wait are a megabyte each two seconds

} // namespace

void Rooms::State::add_routes()
{
    add_access_routes();
    add_measurement_routes();
    add_center_routes();
    add_job_routes();
    add_accounting_routes();
    add_events_routes(context.api, events);
}

void Rooms::State::add_access_routes()
{
    add_identity_routes(context.api, context.identity, context.database);
    add_account_routes(context.api, accounts, context.database);
    add_session_routes(context.api, sessions);
    add_oidc_routes(context.api, context.router, oidc.get());
    add_audit_routes(context.api, context.database, compute);
    add_authority_routes(context.api, context.database,
                         context.supervisor.authority_key_file(context.settings.authority_key_file));
}

void Rooms::State::add_measurement_routes()
{
    add_operators_routes(context.api, operators, context.database);
    add_operator_keys_routes(context.api, operator_keys, context.database);
    add_operator_reviews_routes(context.api, operator_reviews, context.database);
    add_metering_routes(context.api, metering, scores, context.database);
    add_scores_routes(context.api, scores);
    add_curves_routes(context.api, curves, context.clock, context.settings.network_calendar);
    add_trust_routes(context.api, curves, verification_state(context, can_verify));
    add_learning_routes(context.api, learning);
    add_speedup_routes(context.api, context.database);
    add_findings_routes(context.api, findings, context.database);
    add_probing_routes(context.api, probing, context.database);
    add_comparison_routes(context.api, context.database);
    add_schedule_routes(context.api, schedules, context.database);
}

void Rooms::State::add_center_routes()
{
    add_diversity_routes(context.api, context.database);
    add_shared_gpus_routes(context.api, context.database);
    add_unit_use_routes(context.api, context.database);
    add_resources_routes(context.api, context.database);
    add_centers_routes(context.api, centers, enrolment, context.database);
    add_enrolment_routes(context.api, enrolment);
    add_enrolment_routes(context.agent_api, enrolment);
    agents.add_route(context.agent_router);
    add_reservation_routes(context.api, reservations, context.database, context.clock);
    add_maintenance_routes(context.api, maintenance, context.database, context.clock);
    add_sub_unit_routes(context.api, sub_units, context.database);
    add_balance_routes(context.api, balance);
}

void Rooms::State::add_job_routes()
{
    add_jobs_routes(context.api, jobs, context.database);
    add_outputs_routes(context.api, jobs, kept_files, context.settings.most_fetched_output_bytes);
    add_job_types_routes(context.api, job_types);
    add_projects_routes(context.api, projects);
    add_project_members_routes(context.api, project_members);
    add_placement_routes(context.api, placements);
    add_cycle_routes(context.api, cycle_replays);
    add_project_use_routes(context.api, project_uses, context.clock);
    add_simulations_routes(context.api, simulations);
}

void Rooms::State::add_accounting_routes()
{
    add_price_books_routes(context.api, price_books, context.database, context.clock);
    add_billing_routes(context.api, ledger, context.database, compute, catalog, context.metrics,
                       context.settings.network_name);
    add_export_schedule_routes(context.api, export_schedules, context.database);
}

void Rooms::State::subscribe()
{
    operators.on_match_library = [this] { agents.library_changed(); };
    context.authorities.on_change = [this] { agents.authorities_changed(); };
    operators.subscribe(context.notifier, context.tasks, context.executor);
    agents.subscribe(context.notifier);
    catalog.subscribe(context.notifier);
    routing.subscribe(context.notifier);
    events.subscribe(context.notifier);
    kept_files.subscribe(context.notifier);
    job_periodic_tasks.subscribe(context.notifier);
}

void Rooms::State::add_probing_tasks()
{
    PeriodicTaskRunner& tasks = context.periodic_tasks;
    tasks.add("job_learning", kLearningPeriod,
              [this](pqxx::work& transaction) { return job_learning.learn(transaction); });
    tasks.add("probe_refresh", context.settings.probe_refresh_period,
              [this](pqxx::work& transaction) { return probe_refresh.refresh(transaction); });
    if (context.settings.probe_on_change)
        tasks.add("probe_requests", kProbeRequestPeriod,
                  [this](pqxx::work& transaction) { return probe_refresh.serve_requests(transaction); });
    // Drift is asked for no more often than it is looked for; a request that has no room is open for a day.
    tasks.add("drift_probes", context.settings.drift_period,
              [this](pqxx::work& transaction) { return probe_refresh.serve_drift(transaction); });
    tasks.add("drift", context.settings.drift_period,
              [this](pqxx::work& transaction) { return drift.look(transaction); });
    tasks.add("quarantine", kQuarantinePeriod,
              [this](pqxx::work& transaction) { return quarantine.look(transaction); });
    tasks.add("lost_probe_runs", kLostRunsPeriod,
              [this](pqxx::work& transaction) { return lost_runs.look(transaction); });
    tasks.add("scaling_step", kScalingStepPeriod,
              [this](pqxx::work& transaction) { return scaling_step.look(transaction); });
}

void Rooms::State::add_other_tasks()
{
    PeriodicTaskRunner& tasks = context.periodic_tasks;
    tasks.add("project_use", kProjectUsePeriod,
              [this](pqxx::work& transaction) { return project_uses.count_ended(transaction); });
    tasks.add("stored_use", kStoredUsePeriod, fold_stored_changes);
    tasks.add("cycles", kCyclesPeriod, [this](pqxx::work& transaction) -> Result<void> {
        remove_cycles(transaction, cycle_limits(context.settings.keep, context.clock.now()));
        return {};
    });
    tasks.add("remove_expired_oidc_sign_ins", kOidcCleanUpPeriod, remove_expired_oidc_sign_ins);
    tasks.add("sub_units", kSubUnitsPeriod, SubUnitsService::look);
    tasks.add("shared_gpu_gauges", kSharedGpusPeriod, [this](pqxx::work& transaction) -> Result<void> {
        set_shared_gpu_gauges(transaction, context.metrics);
        return {};
    });
    tasks.add("heartbeat_monitor", kHeartbeatMonitorPeriod, [this](pqxx::work& transaction) -> Result<void> {
        heartbeat_monitor.look(transaction);
        return {};
    });
}

} // namespace fathom::server
