#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

/// Finds the iterations of a program from what it does, where nothing tells of them (G9).
namespace fathom::gpu {

struct IterationSettings {
    std::size_t most_events = 1U << 16U; ///< longest iteration that is found, in events
    std::size_t least_repeats = 3;       ///< how often an iteration must have come, at least 2
    std::size_t most_candidates = 64;    ///< periods that are followed at the same time
};

/// Feed it with what a program does to a GPU, in order. An event is a launch, an allocation or a release, as a number
/// that is the same when the program does the same again; live bytes are what is allocated after it. An iteration ends
/// at the event of the period after which the least is allocated; of several, at the first.
///
/// A loop within an iteration (the layers of a network) looks like a period until it ends. A period that broke must
/// come for twice as long before it is believed again, so that the loop around it is found.
class IterationFinder {
  public:
    explicit IterationFinder(const IterationSettings& settings = {});

    /// @return true when an iteration has just ended. False as long as there is no period.
    bool add(std::uint64_t event, std::int64_t live_bytes);

    /// Events of an iteration; 0 while none is known.
    std::size_t period() const { return period_; }
    /// Of the period that is known: how many iterations came as predicted, over these and how often any period broke.
    /// In [0, 1]; 0 without a period.
    double confidence() const;

  private:
    struct Event {
        std::uint64_t key{};
        std::int64_t live_bytes{};
    };

    /// Of `back` events ago; 0 is the newest.
    const Event& ago(std::uint64_t back) const { return events_[(count_ - 1 - back) % events_.size()]; }
    void follow(std::uint64_t event);
    void drop_period();
    std::size_t believed_period() const;
    void choose_phase();

    IterationSettings settings_;
    std::vector<Event> events_;                                    ///< a ring
    std::uint64_t count_{};                                        ///< events so far
    std::unordered_map<std::uint64_t, std::uint64_t> last_places_; ///< where each event came last
    std::unordered_map<std::size_t, std::size_t> runs_;            ///< of each candidate, events that came again
    std::unordered_map<std::size_t, std::size_t> broken_runs_;     ///< of each period that broke, how long it had come
    std::size_t period_{};
    std::uint64_t phase_{}; ///< count_ modulo period_ at which an iteration ends
    std::size_t run_{};     ///< events that came as the period has it
    std::size_t breaks_{};
};

} // namespace fathom::gpu
