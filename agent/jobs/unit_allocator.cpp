#include "agent/jobs/unit_allocator.hpp"

#include "agent/jobs/able_units.hpp"
#include "core/decide/corun/shared_runs.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace fathom::agent {
namespace {

/// Whether whatever runs on `a` runs on `b` as well: all that can be asked when an order does not say what it needs.
bool can_replace(const UnitTypeReport& a, const UnitTypeReport& b)
{
    return a.resource_type == b.resource_type && a.facts.value("device", Json()) == b.facts.value("device", Json()) &&
           b.cores_per_unit >= a.cores_per_unit && b.memory_bytes_per_unit >= a.memory_bytes_per_unit &&
           std::all_of(a.operators.begin(), a.operators.end(), [&](const std::string& id) {
               return std::find(b.operators.begin(), b.operators.end(), id) != b.operators.end();
           });
}

std::int64_t bytes_of(const AttemptOrder& order, const char* variable)
{
    const auto found = order.environment.find(variable);
    std::int64_t bytes = 0;
    if (found != order.environment.end())
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), bytes);
    constexpr std::int64_t kMax = std::int64_t{1} << 42U;
    return std::clamp<std::int64_t>(bytes, 0, kMax);
}

/// An attempt beside these.
DeviceNeighbours neighbours_among(const std::vector<PairMember>& others, const PairMember& own, const PairModel& pairs)
{
    const auto count_of = [&](KernelClass one) {
        return std::count_if(others.begin(), others.end(),
                             [&](const PairMember& other) { return other.kernel_class == one; });
    };
    const DeviceExpectation expected = expect_beside(own, others, pairs);
    DeviceNeighbours neighbours;
    neighbours.compute_count = count_of(KernelClass::kCompute);
    neighbours.memory_count = count_of(KernelClass::kMemory);
    neighbours.unknown_count = count_of(KernelClass::kUnknown);
    if (expected.known_count < others.size()) return neighbours;
    neighbours.expected_share = std::min(expected.newcomer_share, kMaxKeptShare);
    neighbours.least_share_beside = std::min(expected.least_tenant_share, kMaxKeptShare);
    neighbours.basis = expected.basis;
    // Of a single run of a pair nothing is known of how far others are from it.
    if (expected.basis != PairSource::kDefault && expected.newcomer_spread > 0)
        neighbours.expected_spread = std::min(expected.newcomer_spread, kMaxKeptShare);
    return neighbours;
}

/// Whether an attempt on both devices waits rather for what it does on `a`: where it is expected to keep less, else
/// where more others are.
bool is_slower(const DeviceNeighbours& a, const DeviceNeighbours& b)
{
    const double a_share = a.expected_share.value_or(1);
    const double b_share = b.expected_share.value_or(1);
    return a_share < b_share || (a_share == b_share && a.count() > b.count());
}

/// As the job will tell the memory manager; of one that says nothing, what earlier runs of its kind had.
GpuMemoryRequest gpu_memory_of(const AttemptOrder& order)
{
    const GpuMemoryRequest said{bytes_of(order, "FATHOM_GPU_PERSISTENT_BYTES"),
                                bytes_of(order, "FATHOM_GPU_TEMPORARY_BYTES")};
    if (said.all_bytes() > 0) return said;
    return {bytes_of(order, "FATHOM_GPU_LEARNED_PERSISTENT_BYTES"),
            bytes_of(order, "FATHOM_GPU_LEARNED_TEMPORARY_BYTES")};
}

} // namespace

const UnitType* UnitAllocator::find(const std::string& unit_type) const
{
    for (const UnitType& type : plan_) {
        if (type.report.name == unit_type) return &type;
    }
    return nullptr;
}

bool UnitAllocator::is_free(const Unit& unit) const
{
    return std::none_of(unit.cpus.begin(), unit.cpus.end(),
                        [&](std::int64_t cpu) { return busy_cpus_.contains(cpu); }) &&
           are_devices_free(unit);
}

bool UnitAllocator::are_devices_free(const Unit& unit) const
{
    for (const UnitDevice& device : unit.devices) {
        // A device's own name is the beginning of its parts' names.
        const std::string name = device_name(device);
        for (auto held = busy_devices_.lower_bound(device.device.id);
             held != busy_devices_.end() && held->starts_with(device.device.id); ++held) {
            if (devices_overlap(name, *held)) return false;
        }
    }
    if (unit.devices.empty()) return true;
    return std::none_of(held_.begin(), held_.end(), [&](const auto& entry) {
        const Held& held = entry.second;
        return held.has_unknown_devices &&
               std::any_of(unit.host_cpus.begin(), unit.host_cpus.end(), [&](std::int64_t cpu) {
                   return std::find(held.cpus.begin(), held.cpus.end(), cpu) != held.cpus.end();
               });
    });
}

std::int64_t UnitAllocator::unit_count(const UnitType& type) const
{
    const auto limit = limits_.find(type.report.name);
    return limit == limits_.end() ? std::ssize(type.units)
                                  : std::clamp<std::int64_t>(limit->second, 0, std::ssize(type.units));
}

bool UnitAllocator::holds_beyond(const std::string& unit_type, std::int64_t first) const
{
    const UnitType* const type = find(unit_type);
    if (type == nullptr || first >= std::ssize(type->units)) return false;
    return std::any_of(type->units.begin() + first, type->units.end(),
                       [&](const Unit& unit) { return !is_free(unit); });
}

std::int64_t UnitAllocator::free_count(const UnitType& type) const
{
    return std::count_if(type.units.begin(), type.units.begin() + unit_count(type),
                         [&](const Unit& unit) { return is_free(unit); });
}

const UnitType& UnitAllocator::choose_type(const UnitType& proposal, const AttemptOrder& order) const
{
    const auto fits = [&](const UnitType& type) {
        if (order.operators.empty()) return can_replace(proposal.report, type.report);
        return why_unable(type.report, order.operators).empty();
    };
    const UnitType* best = &proposal;
    for (const UnitType& type : plan_) {
        if (fits(type) && free_count(type) > free_count(*best)) best = &type;
    }
    return *best;
}

std::int64_t UnitAllocator::count_for(const UnitType& type, const AttemptOrder& order) const
{
    if (!order.center_counts) return order.unit_count;
    return std::clamp<std::int64_t>(free_count(type), 1, order.unit_count);
}

std::vector<std::size_t> UnitAllocator::first_free(const UnitType& type, std::int64_t count) const
{
    const auto limit = static_cast<std::size_t>(unit_count(type));
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < limit && std::ssize(chosen) < count; ++i) {
        if (is_free(type.units[i])) chosen.push_back(i);
    }
    return chosen;
}

std::vector<std::vector<std::size_t>> UnitAllocator::free_by_device(const UnitType& type, bool is_exclusive) const
{
    const auto limit = static_cast<std::size_t>(unit_count(type));
    const auto each = static_cast<std::size_t>(type.units_per_device);
    std::vector<std::vector<std::size_t>> devices;
    for (std::size_t first = 0; first < limit; first += each) {
        std::vector<std::size_t> free;
        for (std::size_t i = first; i < std::min(first + each, limit); ++i) {
            if (is_free(type.units[i])) free.push_back(i);
        }
        // Of a device of which another center has a part nobody here has all.
        const std::size_t all = std::min(first + each, type.units.size()) - first;
        if (!free.empty() && (!is_exclusive || free.size() == all)) devices.push_back(std::move(free));
    }
    return devices;
}

UnitAllocator::Tenants UnitAllocator::tenants() const
{
    Tenants tenants;
    for (const auto& [attempt, held] : held_) {
        for (const std::string& name : held.devices) {
            std::vector<const Held*>& there = tenants[whole_device_name(name)];
            if (there.empty() || there.back() != &held) there.push_back(&held);
        }
    }
    return tenants;
}

PairMember UnitAllocator::member_of(const Held& held)
{
    return {.kind = held.kind, .kernel_class = held.kernel_class};
}

void UnitAllocator::put_best_first(std::vector<std::vector<std::size_t>>& devices, const UnitType& type,
                                   const AttemptOrder& order, const PairModel& pairs) const
{
    const GpuMemoryRequest need = gpu_memory_of(order);
    const bool is_known = order.kernel_class != KernelClass::kUnknown || !order.gpu_kind.empty();
    const Tenants all = is_known ? tenants() : Tenants();
    std::vector<DeviceOption> options;
    for (const std::vector<std::size_t>& free : devices) {
        const Unit& unit = type.units[free.front()];
        std::set<const Held*> there;
        for (const UnitDevice& part : unit.devices) {
            if (const auto found = all.find(part.device.id); found != all.end())
                there.insert(found->second.begin(), found->second.end());
        }
        DeviceOption& option = options.emplace_back();
        option.free_parts = free.size();
        option.lacks_memory = lacks_gpu_memory(unit, need);
        for (const Held* held : there)
            option.tenants.push_back(member_of(*held));
    }
    std::vector<std::vector<std::size_t>> ordered;
    const PairMember newcomer{.kind = order.gpu_kind, .kernel_class = order.kernel_class};
    for (const std::size_t i : order_devices(newcomer, options, pairs))
        ordered.push_back(std::move(devices[i]));
    devices = std::move(ordered);
}

std::vector<std::size_t> UnitAllocator::choose_units(const UnitType& type, std::int64_t count,
                                                     const AttemptOrder& order) const
{
    const bool is_exclusive = order.is_exclusive;
    if (type.units_per_device <= 1) return first_free(type, count);
    std::vector<std::vector<std::size_t>> devices = free_by_device(type, is_exclusive);
    if (!is_exclusive) put_best_first(devices, type, order, pair_model_of(order.gpu_pairs));
    std::vector<std::size_t> chosen;
    for (const std::vector<std::size_t>& free : devices) {
        for (const std::size_t unit : free) {
            if (std::ssize(chosen) == count && !is_exclusive) return chosen;
            chosen.push_back(unit);
        }
        if (std::ssize(chosen) >= count) return chosen;
    }
    return chosen;
}

Result<Allocation> UnitAllocator::allocate(const AttemptOrder& order)
{
    const UnitType* type = find(order.unit_type);
    if (type == nullptr) return Error{Errc::kNotFound, "this center has no unit type \"" + order.unit_type + "\""};
    if (order.center_chooses) type = &choose_type(*type, order);
    const std::int64_t count = count_for(*type, order);
    if (count > static_cast<std::int64_t>(type->units.size()))
        return Error{Errc::kInfeasible, "this center has only " + std::to_string(type->units.size()) + " units of \"" +
                                            type->report.name + "\", not " + std::to_string(count)};
    Allocation allocation;
    allocation.unit_type = type->report.name;
    for (const std::size_t i : choose_units(*type, count, order)) {
        const Unit& unit = type->units[i];
        allocation.units.push_back(static_cast<std::int64_t>(i));
        allocation.cpus.insert(allocation.cpus.end(), unit.cpus.begin(), unit.cpus.end());
        const std::vector<std::string> devices = device_names(unit);
        allocation.devices.insert(allocation.devices.end(), devices.begin(), devices.end());
    }
    if (static_cast<std::int64_t>(allocation.units.size()) < count)
        return Error{Errc::kTooMany, "not enough units of \"" + type->report.name + "\" are free" +
                                         (order.is_exclusive ? " on devices of which no other job has a part" : "")};
    std::sort(allocation.units.begin(), allocation.units.end());
    const std::int64_t given = std::ssize(allocation.units);
    std::sort(allocation.cpus.begin(), allocation.cpus.end());
    allocation.cores = given * type->report.cores_per_unit;
    allocation.memory_bytes = given * type->report.memory_bytes_per_unit;
    hold(order.attempt_id, allocation.cpus, allocation.devices, order.kernel_class);
    know_job(order);
    return allocation;
}

std::optional<DeviceNeighbours> UnitAllocator::neighbours_of(const AttemptId& attempt) const
{
    const auto entry = held_.find(attempt);
    if (entry == held_.end() || entry->second.devices.empty()) return std::nullopt;
    const Held& own = entry->second;
    const Tenants all = tenants();
    std::optional<PairModel> pairs; // made where somebody is there
    std::optional<DeviceNeighbours> slowest;
    for (const std::string& name : own.devices) {
        std::vector<PairMember> others;
        for (const Held* held : all.at(whole_device_name(name))) {
            if (held != &own) others.push_back(member_of(*held));
        }
        if (others.empty()) continue;
        if (!pairs) pairs = pair_model_of(own.pairs);
        const DeviceNeighbours here = neighbours_among(others, member_of(own), *pairs);
        if (!slowest || is_slower(here, *slowest)) slowest = here;
    }
    return slowest;
}

void UnitAllocator::know_gpus(const GpuMemoryReport& report)
{
    gpu_rooms_.clear();
    jobs_on_gpus_.clear();
    for (const SharedGpu& gpu : report.gpus) {
        gpu_rooms_[gpu.gpu] = room_of(gpu);
        for (const SharedGpuJob& one : gpu.jobs)
            jobs_on_gpus_.insert(one.job);
    }
}

/// By what the memory manager told, and by what was asked for by those whose programs it does not know yet.
bool UnitAllocator::lacks_gpu_memory(const Unit& unit, const GpuMemoryRequest& need) const
{
    if (need.all_bytes() == 0) return false;
    return std::any_of(unit.devices.begin(), unit.devices.end(), [&](const UnitDevice& part) {
        const auto known = gpu_rooms_.find(part.device.id);
        if (known == gpu_rooms_.end()) return false;
        GpuRoom room = known->second;
        for (const auto& [attempt, held] : held_) {
            if (held.need.all_bytes() == 0 || jobs_on_gpus_.contains(held.job.value)) continue;
            const bool is_there = std::any_of(held.devices.begin(), held.devices.end(), [&](const std::string& name) {
                return devices_overlap(name, part.device.id);
            });
            if (is_there) room.admit(held.need);
        }
        return room.missing_bytes(need) > 0;
    });
}

void UnitAllocator::hold(const AttemptId& attempt, const std::vector<std::int64_t>& cpus,
                         const std::vector<std::string>& devices, KernelClass kernel_class)
{
    release(attempt);
    for (const std::int64_t cpu : cpus)
        ++busy_cpus_[cpu];
    busy_devices_.insert(devices.begin(), devices.end());
    held_[attempt] = {cpus, devices, kernel_class};
}

void UnitAllocator::know_job(const AttemptOrder& order)
{
    const auto entry = held_.find(order.attempt_id);
    if (entry == held_.end()) return;
    Held& held = entry->second;
    held.job = order.job_id;
    held.need = gpu_memory_of(order);
    held.kernel_class = order.kernel_class;
    held.kind = order.gpu_kind;
    held.pairs = order.gpu_pairs;
}

void UnitAllocator::hold_unknown_devices(const AttemptId& attempt, const std::vector<std::int64_t>& cpus)
{
    hold(attempt, cpus);
    held_[attempt].has_unknown_devices = true;
}

bool UnitAllocator::still_gives(const std::string& unit_type, const std::vector<std::int64_t>& units,
                                const std::vector<std::string>& devices) const
{
    if (devices.empty()) return true;
    const UnitType* const type = find(unit_type);
    std::vector<std::string> names;
    for (const std::int64_t index : units) {
        if (type == nullptr || index < 0 || index >= std::ssize(type->units)) return false;
        const std::vector<std::string> some = device_names(type->units[static_cast<std::size_t>(index)]);
        names.insert(names.end(), some.begin(), some.end());
    }
    return names == devices;
}

void UnitAllocator::release(const AttemptId& attempt)
{
    const auto entry = held_.find(attempt);
    if (entry == held_.end()) return;
    for (const std::int64_t cpu : entry->second.cpus) {
        const auto count = busy_cpus_.find(cpu);
        if (--count->second == 0) busy_cpus_.erase(count);
    }
    for (const std::string& device : entry->second.devices)
        busy_devices_.erase(busy_devices_.find(device));
    held_.erase(entry);
}

} // namespace fathom::agent
