#pragma once

#include "core/decide/queue/wait_queue_state.hpp"

#include <optional>
#include <vector>

/// One decision after the other over what a wait queue knows; part of core/decide/queue/wait_queue.
namespace fathom {

struct PossibleStart;

class OrderRound {
  public:
    /// Keeps the queue, which must outlive it.
    explicit OrderRound(WaitQueueState& queue)
        : queue_(&queue), free_(queue.unit_types().size()), candidates_(queue.unit_types().size()),
          is_wanted_(queue.unit_types().size(), 0)
    {
    }

    /// The starts of this moment, to which the queue has been brought up. Options are numbered as the queue has them.
    const std::vector<OrderedStart>& run(double now_s);
    /// Whether the last run reserved units for a job beyond its starvation limit.
    bool has_backfill_reservation() const { return has_backfill_reservation_; }

    std::vector<DeferredStart> deferred_starts();

  private:
    enum class IfNoneFits { kGoOn, kReserveUnits };
    /// A job with the free place that it does best at.
    struct Candidate {
        double index{};
        std::uint64_t key{};
        std::uint32_t job{};
        std::uint32_t option{};
        bool operator>(const Candidate& other) const { return std::tie(index, key) > std::tie(other.index, other.key); }
    };

    void begin();
    void find_open_types();
    std::uint32_t best_free(const QueuePlaces& places) const;
    std::uint32_t known_best_free(QueuePlaces& places) const;
    void consider(const QueuePlaces& places, std::size_t unit_type, std::uint32_t& best) const;
    void start_overdue(IfNoneFits otherwise);
    bool start(std::uint32_t job);
    void start_at(std::uint32_t job, std::uint32_t option);
    bool start_gang(const std::vector<std::uint32_t>& members);
    void reserve_units_for(std::uint32_t job);
    std::optional<BackfillReservation> plan_reservation(const JobOption& option) const;
    void start_by_index();
    void gather(std::uint32_t job);
    void add_candidate(std::uint32_t job, std::uint32_t option);
    std::optional<Candidate> take_next();
    void offer(const Candidate& candidate);
    void look_again(std::size_t unit_type);
    /// Of each job the free places that cost it no more than waiting for a better one, and its best where there is
    /// room.
    std::vector<PossibleStart> possible_starts() const;
    void start_assigned();
    bool is_worth_waiting(const QueueEntry& entry, double cost) const;
    struct BestExpected {
        WaitQueueState::Expected expected;
        std::uint32_t option = kNoOption;
    };
    BestExpected best_expected(const QueueEntry& entry, double below) const;

    WaitQueueState* queue_;
    double now_s_{};
    FreeUnits free_;
    bool has_backfill_reservation_ = false;
    std::vector<std::uint32_t> open_types_;          ///< where anything at all can start
    std::vector<std::vector<Candidate>> candidates_; ///< by unit type that they want, each a heap, least first
    std::vector<std::uint32_t> wanted_types_;        ///< that some want, or wanted
    std::vector<std::uint8_t> is_wanted_;            ///< by unit type: it is one of these
    double least_index_{};                           ///< of all candidates
    std::int64_t most_units_{};                      ///< that a candidate wants
    std::vector<std::uint32_t> done_;
    std::vector<OrderedStart> starts_;
};

} // namespace fathom
