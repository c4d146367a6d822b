#pragma once

namespace fathom {

/// How busy the units of a type have been of late: the mean share of them in use, in which what was counts e times less
/// a day later. It is what order_starts() takes as load. Measured, it holds work that nobody foresaw; and units whose
/// jobs suit them badly are busier for it, so that it errs to the side of waiting less.
class BusyShare {
  public:
    static constexpr double kMemory_s = 86'400;

    BusyShare() = default;
    /// Goes on from an earlier mean().
    explicit BusyShare(double mean) : mean_(mean) {}

    /// For so long, until now, so much of the units was in use. Durations that are not positive are passed over.
    void note(double share, double duration_s);

    /// 0..1; 1 before anything is known, so that nothing waits for better places.
    double mean() const;

  private:
    double mean_ = 1;
};

} // namespace fathom
