#pragma once

#include <span>

namespace fathom {

/// The processors of a host since the last look.
struct ProcessorLook {
    double elapsed_s{};
    std::span<const double> busy_s{}; ///< by processor: seconds in which somebody used it
    double own_s{};                   ///< seconds that our background work used, on one processor
    std::size_t own_processor{};      ///< where it was seen last
};

/// When work that nobody waits for may run, so that it takes no more than a hundredth of others' time, whatever
/// priorities the kernel can be told of: between control groups neither nice nor SCHED_IDLE counts, and groups of least
/// weight cannot be made everywhere.
///
/// It runs while a processor is idle. Found on a processor that others use as well, it is taken to have used their
/// time: it stands still for kPause times as long as it ran since the last look, and until a processor was idle
/// throughout a look. Where none ever is, it runs for one look in kPause, so that what waits for it comes to an end.
class BackgroundPace {
  public:
    /// At regular looks, a fraction of a second apart. Work starts standing still.
    /// @return whether it may run until the next look.
    bool next(const ProcessorLook& look);
    bool may_run() const { return may_run_; }

    /// More than a hundred, since how long it ran is known in hundredths of a second only.
    static constexpr double kPause = 150;
    /// A processor that is used less than this share of the time counts as idle: its ticks are hundredths of a second.
    static constexpr double kIdleShare = 0.05;

  private:
    bool may_run_ = false;
    double pause_s_ = 0; ///< that it still owes
    double stood_s_ = 0; ///< for how long it has stood still
};

} // namespace fathom
