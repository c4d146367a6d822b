#include "simulator/engine/device_sharing.hpp"

#include "core/decide/corun/choose_device.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace fathom::simulation {
namespace {

/// So long a pair must run together until its throughput is known.
constexpr double kObserve_s = 60;
/// What each keeps of a pair that does not fit into the memory: both take turns.
constexpr double kTurn = 0.5;
/// Who is about to go is expected to be there for so long.
constexpr double kMinStay_s = 1;

double kept_beside(const Scenario& scenario, std::size_t unit_type, std::uint32_t job_type, std::uint32_t other)
{
    const std::size_t count = scenario.network.job_types.size();
    return scenario.network.unit_types[unit_type].kept_beside[job_type * count + other];
}

} // namespace

DeviceSharing::DeviceSharing(const Scenario& scenario, double counted_from_s, double counted_to_s)
    : scenario_(&scenario)
{
    const std::vector<JobType>& job_types = scenario.network.job_types;
    for (std::size_t u = 0; u < scenario.network.unit_types.size(); ++u) {
        const UnitType& unit_type = scenario.network.unit_types[u];
        const std::int64_t count =
            unit_type.units_per_device > 1 ? unit_type.unit_count / unit_type.units_per_device : 0;
        is_any_shared_ = is_any_shared_ || count > 0;
        Type& type = types_.emplace_back(Type{.parts = static_cast<std::size_t>(unit_type.units_per_device),
                                              .devices = std::vector<Device>(static_cast<std::size_t>(count)),
                                              .in_use = UnitPool(count, counted_from_s, counted_to_s),
                                              .pairs = {},
                                              .seen = {}});
        for (std::uint32_t a = 0; count > 0 && a < job_types.size(); ++a) {
            for (std::uint32_t b = a; b < job_types.size(); ++b) {
                if (kept_beside(scenario, u, a, b) <= 0)
                    type.pairs.exclude({job_types[a].name, {}}, {job_types[b].name, {}});
            }
        }
    }
}

std::vector<TenantedGpu> DeviceSharing::devices(std::size_t unit_type, double now_s) const
{
    const Type& type = types_[unit_type];
    std::vector<TenantedGpu> open;
    std::set<std::vector<std::uint32_t>> seen; // of the same tenants only the first device comes first for anybody
    for (const Device& device : type.devices) {
        if (device.jobs.size() >= type.parts) continue;
        std::vector<std::uint32_t> job_types;
        for (const std::size_t job : device.jobs)
            job_types.push_back(type_of(job));
        std::sort(job_types.begin(), job_types.end());
        if (!seen.insert(std::move(job_types)).second) continue;
        TenantedGpu& gpu = open.emplace_back();
        gpu.free_parts = type.parts - device.jobs.size();
        for (const std::size_t job : device.jobs) {
            const double release_s = std::max(std::abs(tenants_.at(job).expected_s - now_s), kMinStay_s);
            gpu.tenants.push_back({std::string(member_of(job).kind), release_s});
        }
    }
    return open;
}

PairMember DeviceSharing::member_of(std::size_t job) const
{
    return {.kind = scenario_->network.job_types[type_of(job)].name, .kernel_class = KernelClass::kUnknown};
}

double DeviceSharing::speed_of(std::size_t job, std::size_t unit_type, const Device& device) const
{
    double speed = 1;
    for (const std::size_t other : device.jobs) {
        if (other == job) continue;
        const double kept = kept_beside(*scenario_, unit_type, type_of(job), type_of(other));
        speed *= kept > 0 ? kept : kTurn;
    }
    return speed;
}

std::size_t DeviceSharing::choose(std::size_t job, const Type& type) const
{
    std::vector<DeviceOption> options;
    std::vector<std::size_t> devices;
    bool has_empty = false;
    for (std::size_t i = 0; i < type.devices.size(); ++i) {
        const std::vector<std::size_t>& there = type.devices[i].jobs;
        // Of those that nobody has the first comes first in any case.
        if (there.size() >= type.parts || (there.empty() && has_empty)) continue;
        has_empty = has_empty || there.empty();
        DeviceOption& option = options.emplace_back();
        option.free_parts = type.parts - there.size();
        for (const std::size_t other : there)
            option.tenants.push_back(member_of(other));
        devices.push_back(i);
    }
    return devices.at(order_devices(member_of(job), options, type.pairs).at(0));
}

std::optional<DeviceSharing::Computed> DeviceSharing::change_speed(std::size_t job, std::size_t unit_type, double now_s)
{
    Tenant& tenant = tenants_.at(job);
    if (now_s >= tenant.computed_s) return std::nullopt;
    const double passed_s = std::max(0.0, now_s - std::max(tenant.noted_s, tenant.from_s));
    tenant.left_s = std::max(0.0, tenant.left_s - passed_s * tenant.speed);
    tenant.noted_s = now_s;
    tenant.speed = speed_of(job, unit_type, types_[unit_type].devices[tenant.device]);
    tenant.computed_s = std::max(now_s, tenant.from_s) + tenant.left_s / tenant.speed;
    return Computed{job, tenant.computed_s};
}

std::vector<DeviceSharing::Computed> DeviceSharing::take(std::size_t job, std::size_t unit_type, double now_s,
                                                         double from_s, double compute_s, double expected_s)
{
    ++version_;
    Type& type = types_[unit_type];
    const std::size_t chosen = choose(job, type);
    Device& device = type.devices[chosen];
    if (device.jobs.empty()) type.in_use.take(chosen, 1, now_s);
    device.jobs.push_back(job);
    device.together_since_s = now_s;
    tenants_[job] = {.device = chosen,
                     .from_s = from_s,
                     .left_s = compute_s,
                     .noted_s = now_s,
                     .speed = 1,
                     .computed_s = from_s + compute_s,
                     .expected_s = expected_s};
    std::vector<Computed> changed;
    for (const std::size_t one : device.jobs) {
        if (const std::optional<Computed> computed = change_speed(one, unit_type, now_s)) changed.push_back(*computed);
    }
    return changed;
}

void DeviceSharing::learn(std::size_t unit_type, const Device& device, double now_s)
{
    if (device.jobs.size() != 2 || now_s - device.together_since_s < kObserve_s) return;
    const auto [a, b] = std::minmax({type_of(device.jobs[0]), type_of(device.jobs[1])}); // copies
    const double a_share = kept_beside(*scenario_, unit_type, a, b);
    const double b_share = kept_beside(*scenario_, unit_type, b, a);
    Type& type = types_[unit_type];
    if (a_share <= 0 || !type.seen.insert({a, b}).second) return;
    const std::vector<JobType>& job_types = scenario_->network.job_types;
    // A valid scenario (check_scenario) has no shares that are refused.
    [[maybe_unused]] const Result<void> added = type.pairs.add(
        {.a = {job_types[a].name, {}}, .b = {job_types[b].name, {}}, .a_share = a_share, .b_share = b_share});
    type.pairs.refit();
}

DeviceSharing::Left DeviceSharing::give_back(std::size_t job, std::size_t unit_type, double now_s)
{
    ++version_;
    const auto entry = tenants_.find(job);
    const Tenant tenant = entry->second;
    Type& type = types_[unit_type];
    Device& device = type.devices[tenant.device];
    learn(unit_type, device, now_s);
    std::erase(device.jobs, job);
    tenants_.erase(entry);
    Left left{.computed_for_s = tenant.computed_s - tenant.from_s};
    if (device.jobs.empty())
        type.in_use.give_back(tenant.device, now_s);
    else
        left.beside = change_speed(device.jobs.front(), unit_type, now_s);
    return left;
}

} // namespace fathom::simulation
