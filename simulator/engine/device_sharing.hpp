#pragma once

#include "core/decide/corun/pair_model.hpp"
#include "simulator/engine/unit_pool.hpp"
#include "simulator/policies/policy.hpp"
#include "simulator/world/scenario.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom::simulation {

/// The devices of unit types whose units are parts of them (UnitType::units_per_device): who has parts of which, and
/// how fast jobs compute beside each other. The device of a newcomer is chosen as agents do (order_devices()), by the
/// pairs that have run together for a minute before in this simulation; which pairs do not fit into the memory is known
/// before. Pairs that do not fit take turns. Not thread-safe.
class DeviceSharing final : public DeviceReports {
  public:
    /// Keeps the scenario, which must outlive it.
    /// @param counted_from_s,counted_to_s  of UnitPool.
    DeviceSharing(const Scenario& scenario, double counted_from_s, double counted_to_s);

    /// Whether any unit is a part of a device.
    bool is_any_shared() const { return is_any_shared_; }
    bool is_shared(std::size_t unit_type) const { return !types_[unit_type].devices.empty(); }
    /// Whole devices: those in use have a job. Only where is_shared().
    UnitPool& use_of_devices(std::size_t unit_type) { return types_[unit_type].in_use; }

    /// When a job will have computed, as things are.
    struct Computed {
        std::size_t job{};
        double at_s{};
    };
    /// A job gets a part of a device; there must be a free one.
    /// @param from_s      when it begins to compute
    /// @param compute_s   for how long, if it were alone
    /// @param expected_s  when it is expected to give it back
    /// @return the job's, and that of the one beside it where this changes.
    std::vector<Computed> take(std::size_t job, std::size_t unit_type, double now_s, double from_s, double compute_s,
                               double expected_s);

    struct Left {
        double computed_for_s{};          ///< by its own end: how long it computed, the others there
        std::optional<Computed> beside{}; ///< who was beside it, where this changes
    };
    /// It gives its part back. It must have one.
    Left give_back(std::size_t job, std::size_t unit_type, double now_s);

    std::uint64_t version() const override { return version_; }
    std::vector<TenantedGpu> devices(std::size_t unit_type, double now_s) const override;
    const PairModel& pairs(std::size_t unit_type) const override { return types_[unit_type].pairs; }

  private:
    struct Tenant {
        std::size_t device{};
        double from_s{};
        double left_s{}; ///< to compute, if it were alone, as of noted_s
        double noted_s{};
        double speed{1};
        double computed_s{}; ///< when it will have computed
        double expected_s{}; ///< when it was expected to leave, as it started
    };
    struct Device {
        std::vector<std::size_t> jobs; ///< at most units_per_device
        double together_since_s{};     ///< of two
    };
    struct Type {
        std::size_t parts{1};        ///< of a device
        std::vector<Device> devices; ///< empty: a unit is a whole device
        UnitPool in_use;
        PairModel pairs;
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen; ///< job types that the pairs know, the lower first
    };

    std::uint32_t type_of(std::size_t job) const { return scenario_->workload.jobs[job].job_type; }
    PairMember member_of(std::size_t job) const;
    /// What a job truly keeps of its speed beside the others; 1 alone.
    double speed_of(std::size_t job, std::size_t unit_type, const Device& device) const;
    std::size_t choose(std::size_t job, const Type& type) const;
    /// Goes on at the speed that it has there now. Empty: it has computed already.
    std::optional<Computed> change_speed(std::size_t job, std::size_t unit_type, double now_s);
    void learn(std::size_t unit_type, const Device& device, double now_s);

    const Scenario* scenario_;
    std::vector<Type> types_;                         ///< by unit type
    std::unordered_map<std::size_t, Tenant> tenants_; ///< by job; never walked through
    std::uint64_t version_ = 0;
    bool is_any_shared_ = false;
};

} // namespace fathom::simulation
