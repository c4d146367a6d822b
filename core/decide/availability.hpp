#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace fathom {

/// How many units of one type are free from now on: a step function of time. Seconds count from now. A value.
class Availability {
  public:
    static constexpr double kForEver = std::numeric_limits<double>::infinity();

    explicit Availability(std::int64_t unit_count = 0);

    /// Units that are taken from `from_s` (clamped to now) until `to_s`. More may be taken than there are: a center may
    /// shrink below what it has given away; then nothing is free until enough came back.
    void take(double from_s, double to_s, std::int64_t units);

    /// The earliest time not before `not_before_s` from which on `units` are free for `duration_s` without a break;
    /// kForEver when there never are so many.
    double earliest_start(std::int64_t units, double duration_s, double not_before_s = 0) const;
    std::int64_t free_at(double at_s) const;
    std::int64_t free_now() const { return free_at(0); }
    /// The number of steps: what a search costs at most.
    std::size_t size() const { return steps_.size(); }

  private:
    struct Step {
        double from_s{};
        std::int64_t free{};
    };
    /// The index of a step that begins at `at_s`, made where there is none.
    std::size_t cut(double at_s);
    std::vector<Step> steps_; ///< the first begins now; the last lasts for ever
};

} // namespace fathom
