#pragma once

#include "agent/catalog/unit_plan.hpp"
#include "core/decide/corun/choose_device.hpp"
#include "core/decide/corun/pair_model.hpp"
#include "core/model/attempt.hpp"
#include "core/model/device_neighbours.hpp"
#include "core/model/gpu_memory.hpp"

#include <map>
#include <set>
#include <unordered_map>

namespace fathom::agent {

/// What an attempt holds.
struct Allocation {
    std::string unit_type;
    std::vector<std::int64_t> units;  ///< indices within the unit type, ascending
    std::vector<std::int64_t> cpus;   ///< its own, ascending
    std::vector<std::string> devices; ///< names, as in device_names(), in the order of the units
    std::int64_t cores{};
    std::int64_t memory_bytes{};
};

/// Which attempt holds which units. A unit is free when none of its processors and devices is held, so that what was
/// given away before a change of the cut stays respected after it. Pure; not thread-safe.
class UnitAllocator {
  public:
    explicit UnitAllocator(UnitPlan plan) : plan_(std::move(plan)) {}

    /// Gives the first free units of the ordered type to an attempt that holds none, as many as ordered. With
    /// `center_chooses` the type is a proposal: of those that can do the same the one with most units free wins.
    /// With `center_counts` the count is the most: at least 1 of those that are free. Of units that have devices
    /// together those go first whose device has the GPU memory that the order asks for (know_gpus()), and of these
    /// those beside whose tenants most is done together (order_devices()), by the pairs that the order knows and the
    /// kinds and classes of the job and of theirs; else those whose device others have a part of, so that devices stay
    /// whole. With `is_exclusive` the units are all of devices of which nobody has a part, as many as it takes.
    /// @error kNotFound    this center has no such unit type.
    /// @error kInfeasible  the type has fewer units in all.
    /// @error kTooMany     not enough are free now, or are this center's now (limit_units()).
    Result<Allocation> allocate(const AttemptOrder& order);

    /// Notes what an attempt holds already (after a restart of the agent).
    void hold(const AttemptId& attempt, const std::vector<std::int64_t>& cpus,
              const std::vector<std::string>& devices = {}, KernelClass kernel_class = KernelClass::kUnknown);
    /// What is known of the job of an attempt that holds something: its GPU memory, its kind, class and pairs.
    void know_job(const AttemptOrder& order);
    /// hold() for an attempt whose devices nobody knows any more: units with devices that run on one of its processors
    /// are not free while it holds them.
    void hold_unknown_devices(const AttemptId& attempt, const std::vector<std::int64_t>& cpus);
    void release(const AttemptId& attempt);

    /// Who else has parts of the devices that an attempt holds now, and what that is expected to cost. Empty: nobody.
    std::optional<DeviceNeighbours> neighbours_of(const AttemptId& attempt) const;

    /// What this node's memory manager knows of GPUs that jobs share.
    void know_gpus(const GpuMemoryReport& report);

    /// Of these unit types (by name) only the first so many units are given from now on.
    void limit_units(std::map<std::string, std::int64_t> limits) { limits_ = std::move(limits); }
    /// Units of a type of the plan that may be given.
    std::int64_t unit_count(const UnitType& type) const;
    /// Whether an attempt holds something of a unit of that type whose index is `first` or more.
    bool holds_beyond(const std::string& unit_type, std::int64_t first) const;

    /// Cuts anew; what attempts hold stays held.
    void replace_plan(UnitPlan plan) { plan_ = std::move(plan); }

    /// Whether these units still have the devices that an attempt was given with them.
    bool still_gives(const std::string& unit_type, const std::vector<std::int64_t>& units,
                     const std::vector<std::string>& devices) const;

    /// The unit type of that name; nullptr when there is none.
    const UnitType* find(const std::string& unit_type) const;

    const UnitPlan& plan() const { return plan_; }
    /// Units of a type of the plan that nobody holds, of those that may be given.
    std::int64_t free_count(const UnitType& type) const;

  private:
    struct Held {
        std::vector<std::int64_t> cpus;
        std::vector<std::string> devices;
        KernelClass kernel_class = KernelClass::kUnknown;
        bool has_unknown_devices = false;
        JobId job{};
        GpuMemoryRequest need{}; ///< of each of its GPUs
        std::string kind{};      ///< AttemptOrder::gpu_kind
        std::vector<GpuPair> pairs{};
    };

    /// By the names of whole devices; each attempt once for each device.
    using Tenants = std::map<std::string_view, std::vector<const Held*>>;

    bool is_free(const Unit& unit) const;
    bool are_devices_free(const Unit& unit) const;
    const UnitType& choose_type(const UnitType& proposal, const AttemptOrder& order) const;
    std::int64_t count_for(const UnitType& type, const AttemptOrder& order) const;
    std::vector<std::size_t> first_free(const UnitType& type, std::int64_t count) const;
    /// The free units of each device that has some; of whole devices only, where the job is to be alone on them.
    std::vector<std::vector<std::size_t>> free_by_device(const UnitType& type, bool is_exclusive) const;
    /// Puts those devices first of which the order's job is to get units.
    void put_best_first(std::vector<std::vector<std::size_t>>& devices, const UnitType& type, const AttemptOrder& order,
                        const PairModel& pairs) const;
    static PairMember member_of(const Held& held);
    Tenants tenants() const;
    /// So many free units, or more where whole devices are asked for; fewer where there are not so many.
    std::vector<std::size_t> choose_units(const UnitType& type, std::int64_t count, const AttemptOrder& order) const;
    bool lacks_gpu_memory(const Unit& unit, const GpuMemoryRequest& need) const;

    UnitPlan plan_;
    std::map<std::string, std::int64_t> limits_; ///< by unit type
    std::map<AttemptId, Held> held_;
    std::unordered_map<std::int64_t, int> busy_cpus_; ///< by how many attempts each is held
    std::multiset<std::string> busy_devices_;         ///< names
    std::map<std::string, GpuRoom> gpu_rooms_;        ///< by id of the GPU
    std::set<std::string> jobs_on_gpus_;              ///< that these rooms know of
};

} // namespace fathom::agent
