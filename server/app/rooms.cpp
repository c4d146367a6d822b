#include "server/app/rooms.hpp"

#include "probes/operators/manifests.hpp"
#include "server/app/probe_verifier.hpp"
#include "server/balance/balance_api.hpp"
#include "server/balance/balance_service.hpp"
#include "server/billing/billing_api.hpp"
#include "server/billing/export_runner.hpp"
#include "server/billing/export_schedule_api.hpp"
#include "server/billing/price_books_api.hpp"
#include "server/calendar/maintenance_api.hpp"
#include "server/calendar/reservation_api.hpp"
#include "server/centers/agent_hub.hpp"
#include "server/centers/authority_api.hpp"
#include "server/centers/centers_api.hpp"
#include "server/centers/diversity_api.hpp"
#include "server/centers/heartbeat_monitor.hpp"
#include "server/centers/kept_files.hpp"
#include "server/centers/resources_api.hpp"
#include "server/centers/shared_gpu_gauges.hpp"
#include "server/centers/shared_gpus_api.hpp"
#include "server/centers/unit_use_api.hpp"
#include "server/events/events_api.hpp"
#include "server/events/events_service.hpp"
#include "server/identity/account_api.hpp"
#include "server/identity/audit_api.hpp"
#include "server/identity/identity_api.hpp"
#include "server/identity/oidc/oidc_api.hpp"
#include "server/identity/oidc/oidc_store.hpp"
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
#include "server/metering/speedup_api.hpp"
#include "server/metering/trust_api.hpp"
#include "server/metering/trust_store.hpp"
#include "server/operators/library_follower.hpp"
#include "server/operators/operator_keys_api.hpp"
#include "server/operators/operator_reviews_api.hpp"
#include "server/operators/operators_api.hpp"
#include "server/outputs/outputs_api.hpp"
#include "server/probing/comparison_api.hpp"
#include "server/probing/findings_api.hpp"
#include "server/probing/health_probes.hpp"
#include "server/probing/lost_runs.hpp"
#include "server/probing/probe_planning.hpp"
#include "server/probing/probe_refresh.hpp"
#include "server/probing/probe_results.hpp"
#include "server/probing/probing_api.hpp"
#include "server/probing/scaling_step.hpp"
#include "server/probing/schedule_api.hpp"
#include "server/probing/schedule_runner.hpp"
#include "server/probing/withdrawn_runs.hpp"
#include "server/projects/project_members_api.hpp"
#include "server/projects/projects_api.hpp"
#include "server/routing/cycle_api.hpp"
#include "server/routing/cycle_recorder.hpp"
#include "server/routing/cycle_service.hpp"
#include "server/routing/placement_api.hpp"
#include "server/routing/placement_service.hpp"
#include "server/routing/project_use_api.hpp"
#include "server/routing/routing_service.hpp"
#include "server/simulations/simulations_api.hpp"
#include "server/simulations/simulations_service.hpp"
#include "server/sub_units/sub_units_api.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kSilencePeriod = 5s;
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
/// Cycles in which nothing started are many, and say little that the next one does not.
constexpr std::chrono::hours kKeepIdleCycles = 1h;
/// Trust is judged from thousands of jobs; a list that is read page by page need not see each of them at once.
constexpr std::chrono::seconds kTrustLifetime = 2s;
/// The catalog is read after every probe and every change of a center.
constexpr std::chrono::seconds kRoutingTrustLifetime = 5s;

AgentHubOptions hub_options(const RoomContext& context)
{
    AgentHubOptions options =
        options_within({.suspect_after = context.settings.suspect_after, .lost_after = context.settings.lost_after});
    options.replica = context.replica.value;
    return options;
}

VerificationChoice verification_choice(const ServerSettings& settings, bool can_verify)
{
    VerificationChoice choice;
    choice.is_possible = can_verify;
    choice.share = settings.verify_one_in > 0 ? 1 / static_cast<double>(settings.verify_one_in) : 0;
    return choice;
}

/// For scores of unit types; none while the active one cannot be read.
std::optional<MetricPolicy> active_policy(pqxx::work& transaction)
{
    Result<PolicyRecord> found = find_policy(transaction, "");
    if (!found) return std::nullopt;
    return std::move(found->policy);
}

VerificationState verification_state(const RoomContext& context, bool can_verify)
{
    const VerificationChoice choice = verification_choice(context.settings, can_verify);
    return {choice.is_possible, choice.share};
}

CycleLimits cycle_limits(const RetentionRule& keep, Timestamp now)
{
    CycleLimits limits{.most_bytes = keep.cycle_bytes, .oldest = {}, .oldest_idle = now - kKeepIdleCycles};
    if (keep.cycles > std::chrono::days(0)) limits.oldest = now - keep.cycles;
    return limits;
}

/// Null where no provider is set up.
std::unique_ptr<OidcService> make_oidc(const RoomContext& context, SessionService& sessions)
{
    const OidcSettings& settings = context.settings.oidc;
    if (!settings.is_on()) return nullptr;
    net::TlsContext tls = net::make_client_context(settings.authority_pem, nullptr).value(); // tried with the settings
    return std::make_unique<OidcService>(settings, https_fetch(std::move(tls)), context.database, context.identity,
                                         sessions, context.clock, context.metrics);
}

/// Null where the library is this network's own.
std::unique_ptr<LibraryFollower> make_library_follower(const RoomContext& context, OperatorsService& operators,
                                                       ProbeRunTerminator& runs)
{
    const LibraryPlace& place = context.settings.library;
    if (!place.is_on()) return nullptr;
    operators.copy_from(place.url);
    LibrarySite site = library_over_https(place).value(); // tried with the settings
    return std::make_unique<LibraryFollower>(context.database, operators, runs, place, std::move(site),
                                             context.metrics);
}

JobRules job_rules(const RoomContext& context)
{
    return {.unknown_projects = context.settings.unknown_projects,
            .space = &context.space,
            .quota = context.settings.quota,
            .most_priority = context.settings.most_priority,
            .keep_jobs = context.settings.keep.jobs};
}

} // namespace

// To add a room: (1) include its headers above, (2) add its objects to State as members, in the order of who needs
// whom (members are destroyed in reverse), built from `context`, (3) call its add_…_routes() in the add_…_routes() of
// its subject, (4) if it needs a start or a stop, call it in Rooms::start() and, in reverse order, in Rooms::stop().
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
    AttemptsService attempts{context.database,
                             context.executor,
                             context.metrics,
                             catalog,
                             job_finalizer,
                             context.clock,
                             context.settings.most_output_bytes};               // what agents report
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
    JobsService jobs{context.database, context.executor, context.metrics, catalog,
                     job_finalizer,    compute,          context.clock,   job_rules(context)}; // what clients do
    UnitLoadService unit_loads{context.database, catalog, compute,
                               context.clock}; // how busy and sought after units are
    CycleRecorder cycles{context.database, context.executor, context.metrics,
                         context.replica.value};           // what was decided on
    CycleService cycle_replays{context.database, compute}; // decides it again
    RoutingService routing{context.database,
                           context.executor,
                           context.metrics,
                           context.clock,
                           catalog,
                           unit_loads,
                           probe_planning,
                           job_finalizer,
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
    HeartbeatMonitor silence{{.suspect_after = context.settings.suspect_after,
                              .lost_after = context.settings.lost_after,
                              .period = kSilencePeriod}};
    SubUnitsService sub_units{context.database}; // parts of units that go from center to center
    BalanceService balance{context.database,
                           context.metrics,
                           {.steps_of_unit = context.settings.keep.balance_steps}}; // what balance loops did
    AgentHub agents{context.database, attempts,
                    enrolment,        hub_options(context),
                    &sub_units,       context.settings.keep.balance_steps > 0 ? &balance : nullptr,
                    &operators};            // the agents' connections
    KeptFiles kept_files{context.database}; // copies that centers keep of outputs
    SimulationsService simulations{{&context.api, &context.tasks, context.executor},
                                   context.clock}; // what changes would do
};

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
    tasks.add("center_silence", kSilencePeriod, [this](pqxx::work& transaction) -> Result<void> {
        silence.look(transaction);
        return {};
    });
}

Rooms::Rooms(const RoomContext& context) : state_(std::make_unique<State>(context))
{
    state_->catalog.set_gpu_threshold(context.settings.gpu_threshold);
    state_->add_routes();
    state_->subscribe();
    state_->add_probing_tasks();
    state_->add_other_tasks();
}

Rooms::~Rooms() = default;

Result<void> Rooms::start()
{
    if (Result<void> done = state_->operators.seed(probes::operator_manifests()); !done) return done;
    if (Result<void> done = state_->metering.seed(shipped_policies()); !done) return done;
    // After the seeds: the first snapshot must know the operators.
    if (Result<void> done = state_->catalog.load(); !done) return done;
    state_->catalog.start(state_->context.tasks);
    state_->agents.start(state_->context.executor);
    state_->unit_loads.start(state_->context.tasks, state_->context.executor);
    state_->cycles.start(state_->context.tasks);
    state_->routing.start(state_->context.tasks);
    state_->events.start(state_->context.tasks);
    state_->job_periodic_tasks.start(state_->context.tasks);
    state_->learning.start(state_->context.tasks, state_->context.executor);
    state_->drift.start(state_->context.tasks);
    state_->ledger.start(state_->context.tasks, state_->context.executor);
    state_->exports.start(state_->context.tasks, state_->context.executor);
    if (state_->can_verify) state_->verifier.start();
    if (state_->library) state_->library->start();
    state_->retention.start(state_->context.tasks, state_->context.executor);
    state_->schedule_runner.start(state_->context.tasks, state_->context.executor);
    return {};
}

void Rooms::interrupt()
{
    state_->simulations.stop();
}

void Rooms::stop()
{
    state_->verifier.stop();
    if (state_->library) state_->library->stop();
    state_->exports.stop();
    state_->agents.close();
    state_->agents.wait(10s);
}

bool Rooms::wait(std::chrono::milliseconds limit)
{
    return state_->agents.wait(limit);
}

} // namespace fathom::server
