#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fathom {

/// How many units of one type are free from now on: a step function of time. Seconds count from now. A value.
class Availability {
  public:
    static constexpr double kForEver = std::numeric_limits<double>::infinity();

    /// So many units are free from then on; fewer than none when more are taken than there are.
    struct Step {
        double from_s{};
        std::int64_t free{};
    };

    explicit Availability(std::int64_t unit_count = 0);
    /// From its steps() again: the first at 0, each later than the one before.
    static Availability from(std::vector<Step> steps);

    /// Units that are taken from `from_s` (clamped to now) until `to_s`. More may be taken than there are: a center may
    /// shrink below what it has given away; then nothing is free until enough came back.
    void take(double from_s, double to_s, std::int64_t units);

    /// The earliest time not before `not_before_s` from which on `units` are free for `duration_s` without a break;
    /// kForEver when there never are so many.
    double earliest_start(std::int64_t units, double duration_s, double not_before_s = 0) const;
    std::int64_t free_at(double at_s) const;
    std::int64_t free_now() const { return free_at(0); }
    /// On average over a time that begins at 0 or later and ends after that; fewer than none count as none.
    double mean_free(double from_s, double to_s) const;
    /// The same with all steps earlier by `by_s`, at least 0: as it will look then, or would if all were done sooner.
    Availability sooner(double by_s) const;
    /// The number of steps: what a search costs at most.
    std::size_t size() const { return steps_.size(); }
    const std::vector<Step>& steps() const { return steps_; }

  private:
    /// The index of a step that begins at `at_s`, made where there is none.
    std::size_t cut(double at_s);
    std::vector<Step> steps_; ///< the first begins now; the last lasts for ever
};

inline Availability Availability::from(std::vector<Step> steps)
{
    Availability availability;
    availability.steps_ = std::move(steps);
    return availability;
}

} // namespace fathom
