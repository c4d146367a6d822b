#include "server/app/rooms.hpp"

#include "probes/operators/manifests.hpp"
#include "server/app/rooms_state.hpp"

namespace fathom::server {

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
    state_->agents.wait(std::chrono::seconds(10));
}

bool Rooms::wait(std::chrono::milliseconds limit)
{
    return state_->agents.wait(limit);
}

} // namespace fathom::server
