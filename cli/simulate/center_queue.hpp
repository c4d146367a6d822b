#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace fathom::simulation {

/// The queue of one unit type at its center, as batch systems run it: first come first served, with EASY backfilling
/// (Lifka, JSSPP 1995): a later job starts when it delays the first one's start in no way, by the limits that jobs
/// were handed over with.
class CenterQueue {
  public:
    struct Waiting {
        std::size_t job{};
        std::int64_t unit_count{1};
        double limit_s{}; ///< its user's limit: how long it is taken to run at most
        double work{};    ///< units · estimate, for reports
    };

    void push(const Waiting& job);
    /// Takes out of the queue what starts now, in order, and counts it as running.
    /// @param free_for_s  so long units may be held from now on: a closure begins then; infinite without.
    std::vector<Waiting> start(double now_s, std::int64_t free_units, double free_for_s);
    /// A job that start() gave has left its units.
    void end(std::size_t job);

    std::int64_t queued_jobs() const;
    std::int64_t queued_units() const;
    double queued_work() const;
    /// Work that the running ones have left by their limits.
    double running_work(double now_s) const;

  private:
    struct Running {
        double limit_at_s{};
        std::size_t job{};
        std::int64_t unit_count{};
    };
    std::deque<Waiting> waiting_;
    std::vector<Running> running_; ///< by limit_at_s, then job
    std::int64_t queued_units_ = 0;
    double queued_work_ = 0;
};

} // namespace fathom::simulation
