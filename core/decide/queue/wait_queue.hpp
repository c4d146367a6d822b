#pragma once

#include "core/decide/queue/order_jobs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The order under load (core/decide/queue/order_jobs) for who decides again and again while jobs come and go: what
/// does not change from one decision to the next is not worked out again.
namespace fathom {

/// A job that waits. Times are on the clock of decide().
struct QueuedJob {
    std::uint64_t key{};                  ///< of equals the smaller one goes first; no two jobs have the same
    JobOptions options;                   ///< none: it is left out
    double since_s{};                     ///< it has waited
    double fair_load{1};                  ///< of its project (FairShare::load)
    std::int64_t priority = 0;            ///< -100..100
    std::optional<double> latest_start_s; ///< later it misses its deadline
    std::string gang;                     ///< project and gang; empty: none
    std::int64_t gang_size = 0;
};

/// A job that leaves units free which it could have, since it does better to wait for others.
struct DeferredStart {
    std::size_t job{};       ///< as add() numbered it
    std::size_t option{};    ///< what it waits for, index into its options
    double wait_s{};         ///< expected
    double longest_wait_s{}; ///< if it took so long the job would do as well with the best of what is free
};

/// Jobs that wait, what is free, and what comes free when. decide() gives what order_starts() gives for the same; time
/// does not run back from one to the next. Not thread-safe.
class WaitQueue {
  public:
    /// @param unit_counts  of each unit type. Nothing of them is free yet; shadow prices and loads are 1.
    WaitQueue(const OrderSettings& settings, std::span<const std::int64_t> unit_counts);
    ~WaitQueue();
    WaitQueue(WaitQueue&&) noexcept;
    WaitQueue& operator=(WaitQueue&&) noexcept;

    /// A number for the job, which may have been that of a job that is gone.
    std::size_t add(QueuedJob job);
    /// The job is gone: it has started, or does not wait any more.
    void remove(std::size_t job);
    /// Of a job in the queue, by unit type.
    std::span<const JobOption> options(std::size_t job) const;
    void set_fair_load(std::size_t job, double fair_load);

    /// @param free_for_s  UnitTypeLoad::free_for_s
    void set_free(std::size_t unit_type, std::int64_t units, double free_for_s);
    void set_shadow_price(std::size_t unit_type, double shadow_price);
    void set_load(std::size_t unit_type, double load);
    /// Units that are busy are expected to come free then; late, they are expected to take as long again.
    void add_release(std::size_t unit_type, double at_s, std::int64_t units);
    /// Takes back an equal add_release().
    void remove_release(std::size_t unit_type, double at_s, std::int64_t units);

    /// The starts to make now, in the order in which they were found. Their units are taken from what is free; the jobs
    /// are still in the queue.
    std::vector<OrderedStart> decide(double now_s);

    /// Which jobs leave free units alone, and for what, before anything starts; in the order of their numbers.
    std::vector<DeferredStart> deferred_starts(double now_s);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// All in a queue whose clock stands at 0, numbered as they are.
WaitQueue queue_of(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                   const OrderSettings& settings);

} // namespace fathom
