#pragma once

#include "core/base/clock.hpp"
#include "core/decide/capacity/holds.hpp"
#include "core/model/job.hpp"
#include "core/schedule/unit_ledger.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// Units under the lock of their types: nobody else gives them away, so what is taken here can be written. Not
/// thread-safe.
class LockedUnits {
  public:
    /// What is known of one unit type.
    struct UnitType {
        Availability availability; ///< attempts that have not ended, and maintenance
        std::vector<Hold> holds;   ///< less what their own projects' attempts have of them
        std::int64_t unit_count{};
        std::int64_t queued{}; ///< attempts that wait for a unit at the center; not counted where it has a calendar
        bool has_calendar{};   ///< something is planned on it: reservations, maintenance
        std::int64_t units_per_device{1}; ///< UnitTypeView::units_per_device
        std::vector<GpuRoom> gpu_rooms;   ///< where jobs share its GPUs' memory
        std::int64_t whole_units{};       ///< on devices of which nobody has a part, where units have devices together
    };
    using UnitTypes = std::unordered_map<std::string, UnitType>; ///< by id

    LockedUnits(UnitTypes unit_types, Timestamp moment) : unit_types_(std::move(unit_types)), moment_(moment) {}

    /// What `now` is: when the locks were there.
    Timestamp moment() const { return moment_; }

    /// Takes units for a job that starts now and is expected to hold them so long. False, and nothing is taken, when
    /// not so many are free for all of that time, be it for attempts, for what is kept for other projects, or for a
    /// maintenance, and when the type takes no work now.
    /// An exclusive job takes whole devices.
    bool take(const std::string& unit_type_id, const std::string& project, std::int64_t units, double held_s,
              UnitSharing sharing = UnitSharing::kAllowed);
    /// What is known of GPUs whose memory jobs share.
    void know_gpu_rooms(const std::vector<KnownGpuRoom>& rooms);
    /// False when no GPU of the type has the memory that a job needs, as far as is known; else it counts from here on.
    bool admit(const std::string& unit_type_id, const GpuMemoryRequest& need);
    /// Lets a job go to the center that waits there for one of the units. False when kMaxQueuedPerUnit wait for each,
    /// when something is planned on the type, and when it takes no work now.
    bool queue(const std::string& unit_type_id);

  private:
    UnitTypes unit_types_;
    Timestamp moment_;
};

/// Locks the unit types until the transaction ends, and reads what is taken of them. Seconds count from when it had the
/// locks, however long it waited: a reservation that has begun meanwhile has begun. Blocks; pqxx's exceptions pass
/// through. Lock order as in routing_store.hpp.
/// @param for_jobs  those of them that are to take jobs; a quarantined center gives units to probes only.
LockedUnits lock_units(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids,
                       const std::vector<std::string>& for_jobs, const Clock& clock);

} // namespace fathom::server
