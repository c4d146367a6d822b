#include "server/app/rooms.hpp"

#include "probes/operators/manifests.hpp"
#include "server/centers/agent_hub.hpp"
#include "server/centers/centers_api.hpp"
#include "server/centers/silence_duty.hpp"
#include "server/identity/identity_api.hpp"
#include "server/jobs/attempts_service.hpp"
#include "server/jobs/probe_job_writer.hpp"
#include "server/metering/metering_api.hpp"
#include "server/operators/operators_api.hpp"
#include "server/probing/probe_planning.hpp"
#include "server/probing/probing_api.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kSilencePeriod = 5s;

AgentHubOptions hub_options(const RoomContext& context)
{
    AgentHubOptions options;
    options.replica = context.replica.value;
    return options;
}

} // namespace

// To add a room: (1) include its headers above, (2) add its objects to State as members, in the order of who needs
// whom (members are destroyed in reverse), built from `context`, (3) call its add_…_routes() in the constructor, (4) if
// it needs a start or a stop, call it in Rooms::start() and, in reverse order, in Rooms::stop(). CMake links
// fathom_server_<room> as soon as the room's folder has a CMakeLists.txt; a new folder name goes into the two lists
// in server/CMakeLists.txt and server/app/CMakeLists.txt.
struct Rooms::State {
    explicit State(const RoomContext& room_context) : context(room_context) {}

    RoomContext context;
    // Rooms, one comment each: what it is for.

    OperatorsService operators{context.database};         // the library of probe operators
    MeteringService metering{context.database};           // policies and scores
    ProbeResults probe_results{operators};                // what probes printed becomes measurements
    JobCloser job_closer{probe_results, context.metrics}; // how jobs end
    AttemptsService attempts{context.database, context.executor, context.metrics, job_closer,
                             context.clock};                         // what agents report
    JobsProbeJobWriter probe_jobs;                                   // probes as ordinary jobs
    ProbePlanning probe_planning{operators, probe_jobs};             // probes that the router asks for
    ProbingService probing{context.database, operators, probe_jobs}; // probes that people ask for

    CentersService centers{context.database}; // what people do with centers
    EnrolmentService enrolment{context.database,
                               {.authority = context.authority, .agent_port = context.settings.agent_listen.port}};
    SilenceDuty silence{{.suspect_after = context.settings.suspect_after,
                         .lost_after = context.settings.lost_after,
                         .period = kSilencePeriod}};
    AgentHub agents{context.database, attempts, enrolment, hub_options(context)}; // the agents' connections
};

Rooms::Rooms(const RoomContext& context) : state_(std::make_unique<State>(context))
{
    State& rooms = *state_;
    add_identity_routes(context.api, context.identity, context.database);
    add_operators_routes(context.api, rooms.operators);
    add_metering_routes(context.api, rooms.metering, context.database);
    add_probing_routes(context.api, rooms.probing, context.database);
    add_centers_routes(context.api, rooms.centers, rooms.enrolment, context.database);
    add_enrolment_routes(context.api, rooms.enrolment);
    add_enrolment_routes(context.agent_api, rooms.enrolment);
    rooms.agents.add_route(context.agent_router);

    rooms.operators.subscribe(context.notifier, context.tasks, context.executor);
    rooms.agents.subscribe(context.notifier);
    context.duties.add("center_silence", kSilencePeriod, [silence = &rooms.silence](pqxx::work& transaction) {
        silence->look(transaction);
        return Result<void>();
    });
}

Rooms::~Rooms() = default;

Result<void> Rooms::start()
{
    if (Result<void> done = state_->operators.seed(probes::operator_manifests()); !done) return done;
    return state_->metering.seed(shipped_policies());
}

void Rooms::stop()
{
    state_->agents.close();
    state_->agents.wait(10s);
}

} // namespace fathom::server
