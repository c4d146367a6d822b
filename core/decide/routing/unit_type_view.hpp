#pragma once

#include "core/base/id.hpp"
#include "core/base/shared_list.hpp"
#include "core/decide/capacity/availability.hpp"
#include "core/decide/capacity/holds.hpp"
#include "core/decide/capacity/plan_start.hpp"
#include "core/decide/capacity/shared_devices.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/prediction/load_curve.hpp"
#include "core/decide/prediction/operator_estimate.hpp"
#include "core/decide/prediction/predict_run.hpp"
#include "core/decide/prediction/predict_units.hpp"
#include "core/decide/prediction/pressure.hpp"
#include "core/decide/prediction/speedup.hpp"
#include "core/decide/routing/filter_trace.hpp"
#include "core/decide/routing/gpu_neighbours.hpp"
#include "core/model/job.hpp"
#include "core/model/type_queue.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Units that a job gets which asks for so many of them: all of a device, where it shares none.
inline std::int64_t granted_units(const UnitRequest& units, std::int64_t count, std::int64_t units_per_device)
{
    const bool takes_devices = units.is_exclusive() && units_per_device > 1;
    return takes_devices ? units_of_whole_devices(count, units_per_device) : count;
}

/// The cores of a host that units of other types have there, of whichever center.
struct OtherCores {
    std::int64_t count{};
    Availability free{}; ///< what jobs that were placed before leave of them
    HeldMemory memory{}; ///< of these jobs, by cores
};

/// A unit type as the router saw it when the snapshot was taken. Plain value.
struct UnitTypeView {
    UnitTypeId id;
    std::string name;
    CenterId center_id;
    std::string center_name;
    std::string resource_type;
    SharedList<std::string> operators; ///< sorted ids
    SharedList<std::string> isa;       ///< sorted instruction sets; empty: not known
    std::int64_t unit_count{};
    std::int64_t cores_per_unit{};
    std::int64_t memory_bytes_per_unit{}; ///< 0: not known
    std::int64_t gpu_memory_bytes{};      ///< that jobs may have of each of its GPUs; 0: it has none, or not known
    SoftwareKinds software;               ///< that its center has for jobs
    std::int64_t max_wall_s{};            ///< that its batch system lets a job run; 0: as long as it likes
    /// Empty when it takes work; else why not, for people ("the center is drained"), and which filter says so.
    std::string closed_reason;
    Filter closed_by{Filter::kDrain};
    bool is_open_to_probes{}; ///< all the same: a quarantined center, which good probes let back in
    /// Its units over time: what runs, what is planned, maintenance. Holds are not in it.
    Availability availability;
    /// Units that have a device together; 1: none do. 0: some do, and its center cannot keep a device for one job.
    std::int64_t units_per_device{1};
    /// Of its units those on devices of which nobody has a part; empty: no units have a device together.
    std::optional<Availability> whole_devices;
    /// Of its GPUs whose memory jobs share; empty: it has none, or nothing is known of them.
    std::vector<GpuRoom> gpu_rooms;
    /// The same, with what jobs that were placed there are expected to have of it, without having said so. Empty: as
    /// gpu_rooms.
    std::vector<GpuRoom> expected_gpu_rooms;
    /// Who has parts of its GPUs, while jobs are decided together; nullptr: as requests say (gpu_shares).
    std::shared_ptr<const GpuNeighbours> gpu_neighbours;
    std::vector<Hold> holds;
    std::vector<Closure> closures; ///< maintenance, as it is in the availability: what waiting jobs are told
    double bus_gb{};               ///< of a device's bus, GB/s, as its center says; 0: not known
    NodeTransfers nodes;           ///< between nodes of its center
    double queued_s{};             ///< what the center's own queue holds before a new job, as it says
    double score{};                ///< of one unit, for quotas in score-hours; 0: it has none
    /// One for each operator and size, on one unit. Many copies of a view are made, few are measured anew.
    SharedList<MeasuredOperator> measured;
    /// The same with one thread, of units with several cores; empty: not measured.
    SharedList<MeasuredOperator> one_core;
    /// How its operators scale over units; nullptr when nothing is known.
    std::shared_ptr<const UnitSpeedups> speedups;
    /// What neighbours on its host cost its operators; nullptr when nothing is known.
    std::shared_ptr<const UnitLoads> loads;
    /// What the jobs that hold units of it, or are to, do to memory, and memory to them.
    HeldMemory held_memory;
    /// What its units' host is called where units of other types are there as well; empty: none are, or it is not
    /// known.
    std::string host;
    /// Of those, while decisions are made; empty: there are none, or nothing is known of what neighbours cost.
    std::optional<OtherCores> other_cores;
    /// Its network over the week; nullptr when no transfer was ever timed at its center.
    std::shared_ptr<const NetworkProfile> network;
    /// What it costs; nullptr: it has no price, and is taken to be free.
    std::shared_ptr<const UnitPrice> price;
    double trust_factor{1}; ///< above 0, at most 1 (judge_trust): how far its measurements are believed

    /// Whether others wait in the center's own queue, so that a job that goes there takes nothing that is free.
    bool has_queue() const { return queued_s > kAtOnce_s; }
    std::int64_t count_for(const UnitRequest& units, std::int64_t count) const
    {
        return granted_units(units, count, units_per_device);
    }
    std::int64_t least_count_for(const UnitRequest& units) const
    {
        return count_for(units, units.count.value_or(units.min));
    }
    /// What of its units such a job can have.
    const Availability& open_units(const UnitRequest& units) const
    {
        return units.is_exclusive() && whole_devices ? *whole_devices : availability;
    }
    /// The GPU that has most room for a job; nullptr where that is known of none.
    const GpuRoom* roomiest_gpu(const GpuMemoryRequest& need) const { return roomiest(gpu_rooms, need); }
    /// As it is expected to be with those who were placed there.
    const GpuRoom* roomiest_gpu_expected(const GpuMemoryRequest& need) const
    {
        return roomiest(expected_gpu_rooms.empty() ? gpu_rooms : expected_gpu_rooms, need);
    }
    /// Whether none of its GPUs has the memory now that a job needs.
    bool lacks_gpu_memory(const GpuMemoryRequest& need) const
    {
        const GpuRoom* const gpu = need.all_bytes() > 0 ? roomiest_gpu(need) : nullptr;
        return gpu != nullptr && gpu->missing_bytes(need) > 0;
    }
    /// As it will be so much later, or would be if all were done so much sooner.
    void bring_forward(double by_s)
    {
        availability = availability.sooner(by_s);
        if (whole_devices) whole_devices = whole_devices->sooner(by_s);
        if (other_cores) other_cores->free = other_cores->free.sooner(by_s);
    }
    /// Nobody has any of its units; closures are left out.
    void free_all()
    {
        availability = Availability(unit_count);
        held_memory = {};
        other_cores.reset();
        gpu_rooms.clear();
        expected_gpu_rooms.clear();
        gpu_neighbours.reset();
        whole_devices.reset();
        if (units_per_device > 1) whole_devices = Availability(unit_count / units_per_device * units_per_device);
    }
    /// It takes no work for that time.
    void close(double from_s, double to_s)
    {
        availability.take(from_s, to_s, unit_count);
        if (whole_devices) whole_devices->take(from_s, to_s, unit_count);
    }

  private:
    static const GpuRoom* roomiest(const std::vector<GpuRoom>& rooms, const GpuMemoryRequest& need)
    {
        const auto found = std::min_element(rooms.begin(), rooms.end(), [&](const GpuRoom& a, const GpuRoom& b) {
            return a.missing_bytes(need) < b.missing_bytes(need);
        });
        return found == rooms.end() ? nullptr : &*found;
    }
};

} // namespace fathom
