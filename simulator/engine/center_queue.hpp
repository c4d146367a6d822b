#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace fathom::simulation {

/// The queue of one unit type at its center, as batch systems run it: first come first served, with EASY backfilling
/// (Lifka, JSSPP 1995): a later job starts when it delays the first one's start in no way, by the limits that jobs
/// were handed over with.
///
/// First is who can start at all: a job that wants more units than are in order waits for their repair, and one that
/// would run into a closure for its end, without holding up others meanwhile; these end before the closure.
///
/// Cost: jobs that were passed over are looked at again only when units came back, in blocks that a few comparisons
/// pass over. Not thread-safe.
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

    std::int64_t queued_jobs() const { return queued_jobs_; }
    std::int64_t queued_units() const { return queued_units_; }
    double queued_work() const { return queued_work_; }
    /// Work that the running ones have left by their limits; who is beyond its limit has none.
    double running_work(double now_s) const;

  private:
    struct Queued {
        Waiting job;
        std::uint64_t number{}; ///< of its push, from 1
    };
    /// Jobs in order of arrival, with the least that any of them asks for; never empty.
    struct Block {
        std::vector<Queued> jobs;
        std::int64_t least_units = std::numeric_limits<std::int64_t>::max();
        double least_limit_s = std::numeric_limits<double>::infinity();

        void append(const Queued& queued);
        void find_least();
    };
    struct Running {
        double limit_at_s{};
        std::size_t job{};
        std::int64_t unit_count{};
        double work_per_s{};
        friend bool operator<(const Running& a, const Running& b)
        {
            return std::tie(a.limit_at_s, a.job) < std::tie(b.limit_at_s, b.job);
        }
    };
    struct Room {
        double now_s{};
        std::int64_t free_units{};
        double free_for_s{};
    };
    /// What the first job that has to wait leaves to those behind it.
    struct Reservation {
        double at_s{};              ///< when its units are free, by the limits of those that run
        std::int64_t spare_units{}; ///< that it does not need then
    };

    bool has_changed(const Room& room) const;
    /// Whether so much may start before the job that has the reservation.
    bool may_start(std::int64_t unit_count, double limit_s, const Room& room) const;
    std::optional<Reservation> reserve(const Waiting& first, const Room& room) const;
    /// Starts what may start of a block, and reserves for the first job that has to wait.
    /// @return whether it took any out of the block.
    bool start_of(Block& block, Room& room, std::vector<Waiting>& started);
    void start_one(const Waiting& job, Room& room);
    /// Removes a block that has become empty, and joins one that has become small to the one ahead.
    /// @return the block to look at next.
    std::size_t tidy(std::size_t block);

    std::deque<Block> blocks_;
    std::uint64_t pushes_ = 0;
    std::int64_t queued_jobs_ = 0;
    std::int64_t queued_units_ = 0;
    double queued_work_ = 0;

    std::set<Running> running_;
    std::unordered_map<std::size_t, double> limits_at_s_; ///< of the running ones, by job; never walked through
    std::int64_t running_units_ = 0;
    double work_per_s_ = 0;    ///< Σ of the running ones
    double work_at_limit_ = 0; ///< Σ work_per_s · limit_at_s of them

    // What the last start() left: until units come back, what it passed over stays where it is.
    std::optional<Reservation> reservation_;
    std::uint64_t seen_ = 0; ///< pushes that it has looked at
    bool has_ended_ = false; ///< a job, since then
    std::int64_t units_left_ = 0;
    double free_until_s_ = 0;
};

} // namespace fathom::simulation
