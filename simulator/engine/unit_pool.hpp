#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fathom::simulation {

/// The units of one type in the course of a simulation: free, busy or broken, never two of them at once. Integrates how
/// long they were what, within the counted time.
class UnitPool {
  public:
    /// @param counted_from_s,counted_to_s  the time over which busy and broken unit-seconds are summed.
    UnitPool(std::int64_t unit_count, double counted_from_s, double counted_to_s);

    std::int64_t free_units() const { return free_; }
    std::int64_t busy_units() const { return unit_count_ - free_ - broken_; }
    std::int64_t broken_units() const { return broken_; }
    std::int64_t unit_count() const { return unit_count_; }
    double busy_unit_s() const { return busy_unit_s_; }
    double broken_unit_s() const { return broken_unit_s_; }

    /// A job takes free units. There must be so many.
    void take(std::size_t job, std::int64_t units, double now_s);
    /// It gives them back. It must have taken them.
    void give_back(std::size_t job, double now_s);
    /// One unit breaks: a free one, or one of a job, which has given back its units before.
    void break_one(double now_s);
    void repair_one(double now_s);

    /// Whose unit the busy one of that number is, 0 … busy_units() − 1.
    std::size_t job_on(std::int64_t busy_unit) const;

    /// Brings the sums up to this time.
    void pass(double now_s);

  private:
    struct Holder {
        std::size_t job{};
        std::int64_t units{};
    };
    std::int64_t unit_count_;
    std::int64_t free_;
    std::int64_t broken_ = 0;
    double counted_from_s_;
    double counted_to_s_;
    double last_s_ = 0;
    double busy_unit_s_ = 0;
    double broken_unit_s_ = 0;
    std::vector<Holder> holders_;
    std::unordered_map<std::size_t, std::size_t> places_; ///< of jobs in holders_
};

} // namespace fathom::simulation
