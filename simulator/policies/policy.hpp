#pragma once

#include "core/decide/corun/expect_share.hpp"
#include "core/decide/corun/pair_model.hpp"
#include "simulator/knowledge/knowledge.hpp"
#include "simulator/world/scenario.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::simulation {

/// A unit type as its center tells it.
struct UnitTypeReport {
    std::int64_t unit_count{}; ///< that are in order
    std::int64_t free_units{}; ///< now: who starts jobs knows; to a policy that leaves that to centers as last reported
    std::int64_t queued_jobs{};  ///< in the center's own queue, as last reported
    std::int64_t queued_units{}; ///< that these want
    double queued_work{};        ///< Σ units · estimate of these, reference seconds
    double running_work{};       ///< the same of those that run, what is left of it
};

/// Who has parts of the devices of unit types (UnitType::units_per_device), as their centers tell.
class DeviceReports {
  public:
    virtual ~DeviceReports() = default;

    /// Changes with who is there, and with what is known of pairs.
    virtual std::uint64_t version() const = 0;
    /// Devices that have a free part, in the order in which one is chosen among equals; of those with the same tenants
    /// the first. When tenants are gone is counted from now, as it was predicted when they started; one that is late is
    /// expected to take as long again as it is late.
    virtual std::vector<TenantedGpu> devices(std::size_t unit_type, double now_s) const = 0;
    /// What job types, by their names, have kept beside each other there.
    virtual const PairModel& pairs(std::size_t unit_type) const = 0;
};

/// All that a policy may know. The truth is not in it.
struct PolicyView {
    double now_s{};
    const Scenario* scenario{}; ///< rates and work are the truth: only the knowledge may look at them
    std::span<const UnitTypeReport> reports;
    const DeviceReports* devices = nullptr; ///< nullptr: no unit is a part of a device
};

struct PolicyStart {
    std::size_t job{};
    std::size_t unit_type{};
    std::int64_t unit_count{1};
    double predicted_s{}; ///< the whole time that units are expected to be held; positive
    /// So many times as long as by itself it is expected to compute, for those who have parts of the same device. What
    /// is learned from the run is learned without it.
    double slowdown{1};
};

/// Decides where jobs run. Not thread-safe.
class Policy {
  public:
    virtual ~Policy() = default;

    /// True: jobs go to a center's queue as they come, and the center starts them (first come first served, with EASY
    /// backfilling by estimates). False: they are held until the policy starts them itself.
    virtual bool hands_over() const = 0;

    /// Of a policy that hands over: where the job goes. `unit_types`: those that it fits, at least one.
    virtual PolicyStart choose(const PolicyView& view, std::size_t job, std::span<const std::uint32_t> unit_types);

    /// Of a policy that starts jobs: a job has come, or come back. False when no place will ever do for it (its budget,
    /// its deadline): then it is not waited for any more.
    virtual bool arrive(const PolicyView& view, std::size_t job);
    /// What starts now. Jobs that were started are gone; never more units than are free.
    virtual std::vector<PolicyStart> decide(const PolicyView& view);
    /// Asked after decide(): of the jobs that have come, those for which no place will ever do any more (their
    /// deadline). They are not waited for any more.
    virtual std::vector<std::size_t> take_given_up();
    /// When decide() is wanted though nothing happens; infinite: never.
    virtual double wake_at_s(const PolicyView& view) const;

    /// An attempt was ended by its own end, or by a broken unit.
    virtual void end(const PolicyView& view, const PolicyStart& start, double started_s, bool has_failed);
};

/// Makes a policy for one run. The knowledge outlives it.
using PolicyMaker = std::function<std::unique_ptr<Policy>(const Scenario&, Knowledge&, std::uint64_t seed)>;

struct PolicyName {
    std::string_view name;
    std::string_view title; ///< for people
};
/// All that `fathom simulate --policy` takes, ours first.
std::span<const PolicyName> policy_names();

/// What a policy is made with; empty: there is none of that name.
struct NamedPolicy {
    PolicyMaker make;
    KnowledgeKind knowledge{};
};
NamedPolicy find_policy(std::string_view name);

} // namespace fathom::simulation
