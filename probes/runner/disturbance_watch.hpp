#pragma once

#include "core/base/json_reader.hpp"
#include "probes/runner/disturbance.hpp"

namespace fathom::probes {

/// What was seen while one sample was taken.
struct SampleEvidence {
    std::vector<std::string> causes; ///< of causes_in_sample
    std::size_t stretch{};           ///< the stretch of time that it belongs to
    double clock_hz{};               ///< of the core, right after it; 0 where it is not known
};

/// Watches the machine while samples are taken one after the other. Its readings are outside the timed parts; one takes
/// some microseconds for each thread of this process, and ten times a second some hundred more.
/// Not thread-safe; samples are to be taken by the thread that made it.
class DisturbanceWatch {
  public:
    /// @param cores  that are measured, >= 1
    explicit DisturbanceWatch(int cores);

    /// Right before the timed part of a sample.
    void begin_sample();
    /// Right after it.
    SampleEvidence end_sample();
    /// After the last sample, and before and after a pause: what the counters of hundredths of a second say from here
    /// on is said of other samples.
    void end_stretch();

    /// Causes for every sample of a stretch; none while the stretch lasts.
    const std::vector<std::string>& causes_of_stretch(std::size_t stretch) const;

    /// Totals since it was made, for the facts of a result: `waited_s`, `stolen_s`, `used_by_others_s` and, where they
    /// can be measured, `core_clock_hz` (median), `core_clock_low_hz`, `core_clock_high_hz`.
    Json totals() const;
    /// How far the wall clock has moved against the steady one since it was made.
    double clock_step_s() const;

  private:
    int cores_;
    std::vector<int> cpus_; ///< that this process may use
    MachineCounters start_;
    MachineCounters stretch_start_;
    MachineCounters before_;
    std::vector<std::vector<std::string>> stretches_; ///< causes of each; the last one still lasts
    std::vector<double> clocks_hz_;
};

} // namespace fathom::probes
