#pragma once

// Internal to server/app: the objects of all rooms.

#include "server/app/probe_verifier.hpp"
#include "server/app/room_options.hpp"
#include "server/app/rooms.hpp"
#include "server/balance/balance_api.hpp"
#include "server/balance/balance_service.hpp"
#include "server/billing/billing_api.hpp"
#include "server/billing/export_runner.hpp"
#include "server/billing/export_schedule_api.hpp"
#include "server/billing/price_books_api.hpp"
#include "server/calendar/maintenance_api.hpp"
#include "server/calendar/reservation_api.hpp"
#include "server/centers/centers_api.hpp"
#include "server/centers/kept_files.hpp"
#include "server/centers/sessions/agent_hub.hpp"
#include "server/centers/sessions/heartbeat_monitor.hpp"
#include "server/events/events_api.hpp"
#include "server/events/events_service.hpp"
#include "server/identity/account_api.hpp"
#include "server/identity/oidc/oidc_api.hpp"
#include "server/identity/session_api.hpp"
#include "server/job_types/job_learning.hpp"
#include "server/job_types/job_types_api.hpp"
#include "server/jobs/attempts_service.hpp"
#include "server/jobs/job_periodic_tasks.hpp"
#include "server/jobs/jobs_api.hpp"
#include "server/jobs/jobs_service.hpp"
#include "server/jobs/probe_job_writer.hpp"
#include "server/learning/drift_watch.hpp"
#include "server/learning/learning_api.hpp"
#include "server/learning/learning_service.hpp"
#include "server/learning/quarantine_watch.hpp"
#include "server/metering/curves_api.hpp"
#include "server/metering/metering_api.hpp"
#include "server/metering/scores_api.hpp"
#include "server/metering/trust_api.hpp"
#include "server/metering/trust_store.hpp"
#include "server/operators/library_follower.hpp"
#include "server/operators/operator_keys_api.hpp"
#include "server/operators/operator_reviews_api.hpp"
#include "server/operators/operators_api.hpp"
#include "server/outputs/outputs_api.hpp"
#include "server/probing/findings/findings_api.hpp"
#include "server/probing/orders/probing_api.hpp"
#include "server/probing/refresh/health_probes.hpp"
#include "server/probing/refresh/probe_refresh.hpp"
#include "server/probing/refresh/scaling_step.hpp"
#include "server/probing/results/lost_runs.hpp"
#include "server/probing/results/probe_results.hpp"
#include "server/probing/results/withdrawn_runs.hpp"
#include "server/probing/schedules/schedule_api.hpp"
#include "server/probing/schedules/schedule_runner.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "server/projects/project_members_api.hpp"
#include "server/projects/projects_api.hpp"
#include "server/routing/cycles/cycle_api.hpp"
#include "server/routing/cycles/cycle_recorder.hpp"
#include "server/routing/cycles/cycle_service.hpp"
#include "server/routing/placement_api.hpp"
#include "server/routing/placement_service.hpp"
#include "server/routing/project_use/project_use_api.hpp"
#include "server/routing/routing_service.hpp"
#include "server/simulations/simulations_api.hpp"
#include "server/simulations/simulations_service.hpp"
#include "server/sub_units/sub_units_api.hpp"

#include <chrono>
#include <memory>

namespace fathom::server {

/// Of the heartbeat monitor and of its periodic task.
inline constexpr std::chrono::seconds kHeartbeatMonitorPeriod{5};
/// Trust is judged from thousands of jobs; a list that is read page by page need not see each of them at once.
inline constexpr std::chrono::seconds kTrustLifetime{2};
/// The catalog is read after every probe and every change of a center.
inline constexpr std::chrono::seconds kRoutingTrustLifetime{5};

// To add a room: (1) include its headers above, (2) add its objects to State as members, in the order of who needs
// whom (members are destroyed in reverse), built from `context`, (3) call its add_…_routes() in the add_…_routes() of
// its subject (rooms_state.cpp), (4) if it needs a start or a stop, call it in Rooms::start() and, in reverse order, in
// Rooms::stop() (rooms.cpp).
// CMake links fathom_server_<room> as soon as the room's folder has a CMakeLists.txt; a new folder name goes into the
// two lists in server/CMakeLists.txt and server/app/CMakeLists.txt.
struct Rooms::State {
    explicit State(const RoomContext& room_context) : context(room_context) {}

    void add_routes();
    void add_access_routes(); ///< identities, sign-in, audit log
    void add_measurement_routes();
    void add_center_routes();
    void add_job_routes();
    void add_accounting_routes(); ///< prices, usage, ledger, exports
    void subscribe();             ///< to what other replicas say
    void add_probing_tasks();     ///< periodic tasks that learn, measure or ask for measurements
    void add_other_tasks();

    RoomContext context;
    // Rooms, one comment each: what it is for.

    ComputePool compute;                                                  // for what takes long to decide
    AccountService accounts{context.database, context.identity, compute}; // people with passwords
    SessionService sessions{context.database, context.identity, compute, context.metrics}; // their browsers
    const std::unique_ptr<OidcService> oidc = make_oidc(context, sessions); // people whom a provider signs in
    JobsProbeJobWriter probe_jobs{&context.metrics};                        // probes as ordinary jobs
    WithdrawnRuns withdrawn_runs{probe_jobs};                               // runs of withdrawn uploads end
    OperatorsService operators{context.database, withdrawn_runs};           // the library of probe operators
    const std::unique_ptr<LibraryFollower> library =
        make_library_follower(context, operators, withdrawn_runs);              // copies another network's
    OperatorKeysService operator_keys{context.database};                        // who may upload operators
    OperatorReviewsService operator_reviews{context.database, operators};       // what centers submit
    MeteringService metering{context.database, operators};                      // policies
    ScoresService scores{context.database, operators, compute, kTrustLifetime}; // scores by them
    CurvesService curves{context.database};  // over counts, over the week, against jobs
    TrustCache trust{kRoutingTrustLifetime}; // for the catalog
    CatalogCache catalog{context.database,
                         context.executor,
                         context.metrics,
                         context.settings.network_calendar,
                         [this](pqxx::work& transaction) { return trust.get(transaction); },
                         active_policy}; // as decisions see it
    const bool can_verify = context.supervisor.can_verify();
    ProbeVerifier verifier{context.database, operators, context.metrics, context.supervisor}; // computes claims itself
    ProbeResults probe_results{operators, probe_jobs, context.metrics,
                               verification_choice(context.settings, can_verify)}; // becomes measurements
    FindingsService findings{context.database};                                    // quarantined results
    JobFinalizer job_finalizer{probe_results, context.metrics};                    // how jobs end
    AttemptsService attempts{
        {context.database, context.executor, context.metrics, catalog, job_finalizer, context.clock},
        context.settings.most_output_bytes};                                    // what agents report
    JobTypesService job_types{context.database, catalog};                       // what jobs execute
    ProjectsService projects{context.database};                                 // settings of projects
    ProjectMembersService project_members{context.database};                    // who may submit to them
    ProbePlanning probe_planning{operators, probe_jobs};                        // probes that the router asks for
    ProbingService probing{context.database, operators, probe_jobs, job_types}; // probes that people ask for
    ScheduleService schedules{context.database, operators, context.clock};      // when to probe without being asked
    ScheduleRunner schedule_runner{context.database, probing, context.clock, context.metrics}; // does it
    ProbeRefresh probe_refresh{operators, probe_jobs, context.clock,
                               context.settings.metering_period}; // measures what is stale or has changed
    LostRuns lost_runs{probe_jobs};                               // probes that a center lost are repeated
    ScalingStep scaling_step{probe_jobs};                         // one more count where a curve is open
    JobLearning job_learning{catalog, probe_planning};            // job types from ended jobs
    LearningService learning{context.database, context.metrics, context.clock,
                             compute};                 // predictions against what came
    HealthProbes health_probes{operators, probe_jobs}; // of centers that failed jobs
    QuarantineWatch quarantine{health_probes, context.settings.quarantine, context.clock, context.metrics,
                               context.replica.value}; // closes those centers
    DriftWatch drift{context.settings.drift, context.database,     compute, context.executor,
                     context.metrics,        context.replica.value}; // jobs go otherwise than predicted

    PriceBooksService price_books{context.database, compute};                      // what units cost
    UsageMeter usage_meter{catalog, active_policy};                                // what was used
    LedgerService ledger{context.database, usage_meter, compute, context.metrics}; // what it costs, who owes whom
    ExportScheduleService export_schedules{context.database, context.settings.exports,
                                           context.clock}; // bills by the clock
    ExportRunner exports{context.database, compute,        context.settings.exports, context.settings.network_name,
                         context.clock,    context.metrics}; // writes them

    ProjectUseService project_uses{context.database, catalog}; // what projects use, against quotas and shares
    EventsService events{context.database, context.executor, context.metrics}; // the live stream of job events
    JobsService jobs{
        {context.database, context.executor, context.metrics, catalog, job_finalizer, compute, context.clock},
        job_rules(context)}; // what clients do
    UnitLoadService unit_loads{context.database, catalog, compute,
                               context.clock}; // how busy and sought after units are
    CycleRecorder cycles{context.database, context.executor, context.metrics,
                         context.replica.value};           // what was decided on
    CycleService cycle_replays{context.database, compute}; // decides it again
    RoutingService routing{
        context.executor,
        {context.database, context.metrics, context.clock, catalog, unit_loads, probe_planning, job_finalizer},
        {.replica = context.replica,
         .metering_period = context.settings.metering_period,
         .recorder = context.settings.keep.cycle_bytes > 0 ? &cycles : nullptr}};
    PlacementService placements{context.database, catalog, context.clock, compute}; // where jobs go, and why
    RetentionTask retention{context.database, context.clock, context.metrics,
                            context.settings.keep}; // removes what is old
    JobPeriodicTasks job_periodic_tasks{context.database, context.executor, context.metrics,
                                        context.clock}; // jobs of lost centers, gauges

    CentersService centers{context.database};                                             // what people do with centers
    ReservationService reservations{context.database, context.settings.unknown_projects}; // units kept for a project
    MaintenanceService maintenance{context.database};                                     // when centers take no work
    EnrolmentService enrolment{context.database,
                               {.authorities = &context.authorities, .agent_port = context.settings.agent_public_port}};
    HeartbeatMonitor heartbeat_monitor{{.suspect_after = context.settings.suspect_after,
                                        .lost_after = context.settings.lost_after,
                                        .period = kHeartbeatMonitorPeriod}};
    SubUnitsService sub_units{context.database}; // parts of units that go from center to center
    BalanceService balance{context.database,
                           context.metrics,
                           {.steps_of_unit = context.settings.keep.balance_steps}}; // what balance loops did
    AgentHub agents{{context.database, attempts, enrolment, &sub_units,
                     context.settings.keep.balance_steps > 0 ? &balance : nullptr, &operators},
                    hub_options(context)};  // the agents' connections
    KeptFiles kept_files{context.database}; // copies that centers keep of outputs
    SimulationsService simulations{{&context.api, &context.tasks, context.executor},
                                   context.clock}; // what changes would do
};

} // namespace fathom::server
