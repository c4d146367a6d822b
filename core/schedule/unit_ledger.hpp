#pragma once

#include "core/decide/routing/input_texts.hpp"
#include "core/decide/routing/route.hpp"
#include "core/schedule/gpu_tenancy.hpp"
#include "core/schedule/taken_views.hpp"
#include "core/schedule/unit_calendar.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom {

/// A GPU whose memory jobs share, as it was last told, with what has been placed there since.
struct KnownGpuRoom {
    UnitTypeId unit_type_id;
    GpuRoom room;
    /// With what jobs that said no need are expected to have of it; empty: the same.
    std::optional<GpuRoom> expected{};
};

/// How the units are at the moment of the decisions. Refers to its lists.
struct UnitState {
    const UnitCalendar* calendar = nullptr; ///< nullptr: nothing is in it
    std::span<const Reservation> reserved{};
    std::span<const Reservation> planned{};    ///< for jobs that were decided before
    Timestamp now{};                           ///< what the seconds of the reservations count from
    std::span<const KnownGpuRoom> gpu_rooms{}; ///< of unit types whose GPUs' memory jobs share
    std::span<const KnownGpus> gpus{};         ///< of unit types of whose GPUs jobs have parts, as far as it is known
};

/// The scheduler's working copy: the unit types with their calendar and with what is reserved at one moment, and with
/// what is planned for the jobs before the one in hand (list scheduling). Only unit types of which something is taken,
/// or on whose host there are others, are copied, and of these only the ones that decisions look at closely
/// (TakenViews). Not thread-safe, and neither are its views().
class UnitLedger {
  public:
    /// @param unit_types  must outlive the ledger; the lists of the state are read during the call only.
    /// @param columns  figures of these unit types that one ledger passes on to the next; nullptr: none.
    UnitLedger(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge, const UnitState& state,
               std::shared_ptr<RouteColumns> columns = nullptr);

    const UnitTypeList& views() const { return *views_; }
    const RouteKnowledge& knowledge() const { return knowledge_; }
    /// Index into views() of the unit type with this id.
    std::optional<std::size_t> index_of(std::string_view id) const { return index_->find(id); }
    /// The unit type with what is left of it now; valid until the ledger changes. nullptr: there is no such unit type.
    const UnitTypeView* find(const UnitTypeId& id) const;
    /// Decides on what is left. The first decision lays out a table, which the next ones use.
    Decision decide(const RouteRequest& request);
    /// As decide(), of a job that may have to wait: only the winner, and the places it was chosen from.
    BriefDecision decide_briefly(const RouteRequest& request);
    /// The places that decide() would choose from.
    OfferedPlaces offered_places(const RouteRequest& request);
    /// What one of its decisions was made by, as text (route_json.hpp). To be asked for before the ledger changes.
    std::string inputs_of(const RouteRequest& request, const Decision& decision);
    /// Decides from now on as if a unit type were another. To be called before the first decision.
    /// @param change  must not change the id.
    void change(const UnitTypeId& id, const std::function<void(UnitTypeView&)>& change);
    /// Takes units for the time of the reservation.
    void reserve(const Reservation& reservation);
    /// A placed job will need so much memory of a GPU of this type; which GPU is not known yet.
    /// @param learned  of one that says no need, what earlier runs had: it only counts for places of other such jobs.
    void admit(const UnitTypeId& id, const GpuMemoryRequest& need, const GpuMemoryRequest& learned = {});
    /// The GPUs whose memory jobs share, with what has been placed there by now.
    std::vector<KnownGpuRoom> gpu_rooms() const;
    /// What jobs keep of their speed beside those who have parts of GPUs, placed jobs among them, is told by these
    /// pairs from now on. nullptr: as requests say, and nobody is noted who is placed.
    void know_pairs(std::shared_ptr<const PairTable> pairs);
    /// A job was placed, and will have so many units of this type, on the GPUs that its center is expected to choose.
    void place_on_gpus(const UnitTypeId& id, const GpuTenant& tenant, std::int64_t unit_count, bool is_exclusive);
    /// The GPUs of which jobs have parts, with who has been placed there by now.
    std::vector<KnownGpus> gpus() const;
    /// Says in a request what the job keeps now at each unit type (RouteRequest::gpu_shares), where that is known.
    void tell_gpu_shares(RouteRequest& request) const;
    /// Decisions after this call are, to the last bit, those of a new ledger that is made with reserved_later() as its
    /// `planned`. So one ledger serves batch after batch, and each batch can still be decided again by itself.
    void begin_batch();
    /// The reservations since the ledger was made, in order, without those that were undone.
    const std::vector<Reservation>& reserved_later() const { return reserved_later_; }
    /// Reservations after this call can be undone until the trial is kept or undone. One trial at a time.
    void begin_trial();
    void keep_trial() { trial_.reset(); }
    void undo_trial();
    /// True when an open unit type has a free unit.
    bool has_free_unit() const;

  private:
    RouteTable& table();
    void lay_calendar(const UnitCalendar& calendar, Timestamp now);
    /// On hosts with units of several types: what jobs that were placed before hold there.
    void note_hosts(std::span<const Reservation> reserved);
    void lay_reservations(std::span<const Reservation> reservations);
    /// Whether what is taken of the unit type can be noted until somebody looks at it.
    bool may_be_late(std::size_t index) const;
    void take(std::size_t index, const Reservation& reservation);
    using Gpus = std::shared_ptr<const std::vector<TenantedGpu>>;
    /// What is known of its GPUs, into the unit type's view.
    void show_gpus(std::size_t index, const Gpus& gpus);
    Gpus gpus_at(std::size_t index) const;
    void put_back_gpus(std::size_t index, const Gpus& gpus);

    /// A unit type as it was before a trial changed it.
    struct Before {
        std::size_t index{};
        Availability availability;
        std::optional<Availability> whole_devices;
        std::vector<GpuRoom> gpu_rooms;
        std::vector<GpuRoom> expected_gpu_rooms;
        std::vector<Hold> holds;
        HeldMemory held_memory;
        Gpus gpus;
    };
    void note_before(std::size_t index);
    /// The copy of a unit type that may be changed.
    UnitTypeView& own(std::size_t index);

    std::shared_ptr<TakenViews> taken_;
    std::shared_ptr<UnitTypeList> views_; ///< of the unit types; shows the copies of taken_
    std::shared_ptr<const UnitTypeIndex> index_;
    RouteKnowledge knowledge_;
    std::shared_ptr<RouteColumns> columns_;
    InputTexts input_texts_;                   ///< where there are no columns
    std::optional<RouteTable> table_;          ///< of views_
    std::optional<std::vector<Before>> trial_; ///< in the order in which the unit types were changed
    std::vector<Reservation> reserved_later_;
    std::size_t before_trial_ = 0;           ///< size of reserved_later_ before the trial
    std::map<std::size_t, Gpus> gpus_;       ///< by index of the unit type; none is null
    std::shared_ptr<const PairTable> pairs_; ///< nullptr: none
};

/// Units by the id of their type.
using UnitCounts = std::unordered_map<std::string, std::int64_t>;
/// Adds what is taken now by reservations; those that begin later count nothing.
void count_taken(UnitCounts& taken, std::span<const Reservation> reservations);

/// As UnitLedger::has_free_unit(), without a ledger: true when an open unit type has a unit that is neither taken nor
/// closed at `now`.
bool has_free_unit(std::span<const UnitTypeView> unit_types, const UnitCalendar& calendar, const UnitCounts& taken,
                   Timestamp now);

} // namespace fathom
