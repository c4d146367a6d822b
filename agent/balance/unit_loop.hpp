#pragma once

#include "agent/balance/actuator.hpp"
#include "agent/balance/balance_journal.hpp"
#include "agent/balance/balance_trace.hpp"
#include "agent/balance/occupancy_sensor.hpp"
#include "agent/balance/sub_unit_source.hpp"
#include "agent/balance/unit_jobs.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace fathom::agent {

struct UnitLoopOptions {
    std::string unit;
    bool dry_run = true;
    RegulatorSettings regulator;
    double period_s = 1; ///< from step to step
};

/// The loop of one unit: senses, decides (regulate()), acts, and says what it did. It acts while a job runs on the
/// unit, and puts everything back when the last one has ended. An actuator that is missing or refused is named in the
/// trace, and the others go on; one that refused is asked again after a while. Not thread-safe; blocks for tens of
/// milliseconds.
class UnitLoop {
  public:
    /// The journal and the source must outlive the loop.
    UnitLoop(UnitLoopOptions options, std::unique_ptr<OccupancySensor> sensor,
             std::vector<std::unique_ptr<Actuator>> actuators, BalanceJournal& journal, SubUnitSource& sub_units);

    /// Several times a period.
    void sample() { sensor_->sample(); }
    /// Once a period, with the jobs that run on the unit. Empty where none does: then there is nothing to say.
    std::optional<TraceStep> step(Timestamp now, const std::vector<UnitJob>& jobs);
    /// Everything as it was before the loop.
    void end();

  private:
    static constexpr std::int64_t kRefusedForSteps = 30;

    struct Part {
        std::unique_ptr<Actuator> actuator;
        std::int64_t usable_from = 0; ///< step
        std::string refusal;          ///< why it is left alone until then
    };

    Result<Occupancies> measure();
    void follow_jobs(const std::vector<UnitJob>& jobs);
    UnitPosition look(TraceStep& trace);
    bool has_other_sub_units(const UnitPosition& position);
    void act(const RegulatorStep& step, TraceStep& trace);
    void act_on(Part& part, const RegulatorStep& step, TraceStep& trace);
    Part* find(ActuatorKind kind);

    UnitLoopOptions options_;
    std::unique_ptr<OccupancySensor> sensor_;
    std::vector<Part> parts_;
    BalanceJournal& journal_;
    SubUnitSource& sub_units_;
    RegulatorState state_;
    std::optional<std::int64_t> sub_units_before_;                     ///< as seen last, of these jobs
    std::optional<std::chrono::steady_clock::time_point> measured_at_; ///< when the period began
    std::int64_t idle_steps_ = 0;                                      ///< since a job ran
    std::vector<AttemptId> jobs_;                                      ///< of the step before
};

} // namespace fathom::agent
