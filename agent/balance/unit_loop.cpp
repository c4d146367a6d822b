#include "agent/balance/unit_loop.hpp"

#include "agent/balance/precision_hook.hpp"
#include "agent/balance/put_back.hpp"
#include "core/base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

/// How long a job may take to follow a change of its precision.
constexpr std::chrono::seconds kPrecisionTimeout{30};

bool concerns(const BalanceActions& actions, ActuatorKind kind)
{
    switch (kind) {
    case ActuatorKind::kSubUnits:
        return actions.sub_units != 0;
    case ActuatorKind::kClock:
        return actions.clock_mhz != 0;
    case ActuatorKind::kPrecision:
        return actions.precision_steps != 0;
    }
    return false;
}

void add_fault(TraceStep& trace, ActuatorKind kind, const std::string& why)
{
    trace.faults.push_back(std::string(to_string(kind)) + ": " + why);
}

} // namespace

UnitLoop::UnitLoop(UnitLoopOptions options, std::unique_ptr<OccupancySensor> sensor,
                   std::vector<std::unique_ptr<Actuator>> actuators, BalanceJournal& journal, SubUnitSource& sub_units)
    : options_(std::move(options)), sensor_(std::move(sensor)), journal_(journal), sub_units_(sub_units)
{
    for (std::unique_ptr<Actuator>& actuator : actuators)
        parts_.push_back({std::move(actuator), 0, {}});
}

std::optional<TraceStep> UnitLoop::step(Timestamp now, const std::vector<UnitJob>& jobs)
{
    follow_jobs(jobs);
    const Result<Occupancies> occupancies = measure(); // also without a job, so that no period is longer than one
    if (jobs.empty()) {
        // What was put back by a request to the broker is looked at again whenever it has had time to answer.
        ++idle_steps_;
        const bool is_later = idle_steps_ % kRefusedForSteps == 0 && waits_for_sub_units(journal_, options_.unit);
        if (idle_steps_ == kRefusedForSteps || is_later) end();
        return std::nullopt;
    }
    idle_steps_ = 0;
    TraceStep trace{.at = now,
                    .unit = options_.unit,
                    .job = jobs.front().attempt.value,
                    .is_dry_run = options_.dry_run,
                    .law = std::string(to_string(options_.regulator.law)),
                    .band = options_.regulator.band,
                    .step = {},
                    .faults = {}};
    if (!occupancies) {
        trace.step = skip_step(occupancies.error().detail, state_);
        return trace;
    }
    const UnitPosition position = look(trace);
    if (has_other_sub_units(position)) {
        trace.step = skip_step("sub-units came or went in this period, which is of both counts", state_);
        return trace;
    }
    trace.step = regulate(options_.regulator, *occupancies, position, state_);
    if (trace.step.outcome == StepOutcome::kActed && !options_.dry_run) act(trace.step, trace);
    return trace;
}

/// Whether some came or went since the step before: asked for, they come when the broker grants them. A unit that gave
/// up half would seem to need less than it has by the counters of a period that was half without them.
bool UnitLoop::has_other_sub_units(const UnitPosition& position)
{
    if (!position.sub_units) return false;
    const std::optional<std::int64_t> before = std::exchange(sub_units_before_, position.sub_units->count);
    return before && *before != position.sub_units->count;
}

/// What the sensor says of the period that ends now, where its beginning is not too long ago.
Result<Occupancies> UnitLoop::measure()
{
    const auto now = std::chrono::steady_clock::now();
    const auto began = std::exchange(measured_at_, now);
    Result<Occupancies> occupancies = sensor_->measure(); // in any case: the next period begins
    const double lasted_s = began ? std::chrono::duration<double>(now - *began).count() : 0;
    if (lasted_s <= options_.period_s + options_.regulator.most_sample_age_s) return occupancies;
    return Error{Errc::kDeadline,
                 fmt::format("the period lasted {:.3g} s instead of {:.3g} s: what was counted is too old", lasted_s,
                             options_.period_s)};
}

void UnitLoop::end()
{
    put_all_back(journal_, sub_units_, [this](const std::string& unit) { return unit == options_.unit; });
    for (Part& part : parts_) {
        // What could not be put back stands as it was set, and stays in the journal.
        const bool stays = journal_.entries().contains({options_.unit, std::string(to_string(part.actuator->kind()))});
        if (!stays) part.actuator->was_put_back();
    }
}

void UnitLoop::follow_jobs(const std::vector<UnitJob>& jobs)
{
    std::vector<AttemptId> present;
    present.reserve(jobs.size());
    for (const UnitJob& job : jobs)
        present.push_back(job.attempt);
    if (present == jobs_) return;
    // Other work: what was set for the earlier is no start for it.
    if (!jobs_.empty()) end();
    jobs_ = std::move(present);
    state_ = {};
    sub_units_before_.reset();
    std::erase_if(parts_, [](const Part& part) { return part.actuator->kind() == ActuatorKind::kPrecision; });
    for (Part& part : parts_)
        part.usable_from = 0;
    // The precision of a unit that several jobs share is nobody's to set.
    const std::optional<PrecisionRange> range = jobs.size() == 1 ? jobs.front().precision : std::nullopt;
    if (range) parts_.push_back({std::make_unique<PrecisionHook>(jobs.front(), *range, kPrecisionTimeout), 0, {}});
}

UnitPosition UnitLoop::look(TraceStep& trace)
{
    UnitPosition position;
    for (const ActuatorKind kind : options_.regulator.plan.actuators) {
        Part* const part = find(kind);
        if (part == nullptr) {
            add_fault(trace, kind, "absent");
            continue;
        }
        if (state_.step < part->usable_from) {
            add_fault(trace, kind, part->refusal);
            continue;
        }
        if (const Result<void> seen = part->actuator->look(position); !seen)
            add_fault(trace, kind, seen.error().detail);
    }
    return position;
}

void UnitLoop::act(const RegulatorStep& step, TraceStep& trace)
{
    for (const ActuatorKind kind : options_.regulator.plan.actuators) {
        Part* const part = concerns(step.actions, kind) ? find(kind) : nullptr;
        if (part != nullptr) act_on(*part, step, trace);
    }
}

void UnitLoop::act_on(Part& part, const RegulatorStep& step, TraceStep& trace)
{
    const ActuatorKind kind = part.actuator->kind();
    Result<void> done = journal_.note(options_.unit, std::string(to_string(kind)), part.actuator->undo());
    if (done) done = part.actuator->act(step.actions, step.wanted_sub_units);
    if (done) return;
    part.usable_from = state_.step + kRefusedForSteps;
    part.refusal = done.error().detail;
    add_fault(trace, kind, part.refusal);
    log_warning("balance_action_failed",
                {{"unit", options_.unit}, {"actuator", to_string(kind)}, {"reason", part.refusal}});
}

UnitLoop::Part* UnitLoop::find(ActuatorKind kind)
{
    const auto found =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.actuator->kind() == kind; });
    return found == parts_.end() ? nullptr : &*found;
}

} // namespace fathom::agent
