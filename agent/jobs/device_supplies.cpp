#include "agent/jobs/device_supplies.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMebibyte = 1LL << 20U;

/// A device of which a job has some parts.
struct GivenDevice {
    const HostDevice* device{};
    std::int64_t parts{};     ///< that it has
    std::int64_t all_parts{}; ///< that there are
};

/// Those that there are.
std::vector<const Unit*> units_at(const UnitType& type, const std::vector<std::int64_t>& indices)
{
    std::vector<const Unit*> units;
    for (const std::int64_t index : indices) {
        if (index >= 0 && index < std::ssize(type.units)) units.push_back(&type.units[static_cast<std::size_t>(index)]);
    }
    return units;
}

/// Each device once, in the order of the units.
std::vector<GivenDevice> given_devices(const std::vector<const Unit*>& units)
{
    std::vector<GivenDevice> given;
    for (const Unit* unit : units) {
        for (const UnitDevice& part : unit->devices) {
            const auto same = std::find_if(given.begin(), given.end(),
                                           [&](const GivenDevice& one) { return one.device->id == part.device.id; });
            if (same == given.end())
                given.push_back({&part.device, 1, part.parts});
            else
                ++same->parts;
        }
    }
    return given;
}

/// Set by the center, and by nobody else.
void set(RunOrder& run, const std::string& name, const std::string& value)
{
    run.order.environment.erase(name);
    run.environment[name] = value;
}

std::string joined(const std::vector<std::string>& items)
{
    std::string text;
    for (const std::string& item : items)
        text += (text.empty() ? "" : ",") + item;
    return text;
}

/// By the service's rules one percentage holds for all devices of a process: the smallest share.
void limit_shares(RunOrder& run, const std::vector<GivenDevice>& given)
{
    std::int64_t percent = 100;
    std::vector<std::string> memory;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const GivenDevice& one = given[i];
        percent = std::min(percent, 100 * one.parts / one.all_parts);
        const std::int64_t mebibytes = one.device->memory_bytes / one.all_parts * one.parts / kMebibyte;
        if (mebibytes > 0) memory.push_back(std::to_string(i) + "=" + std::to_string(mebibytes) + "M");
    }
    set(run, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", std::to_string(std::max<std::int64_t>(percent, 1)));
    if (!memory.empty()) set(run, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", joined(memory));
}

/// Files of all devices that units of the plan have, but for those of the given ones, some of which devices share.
std::vector<std::string> files_of_others(const UnitPlan& plan, const std::vector<GivenDevice>& given)
{
    std::set<std::string> files;
    for (const UnitType& type : plan) {
        for (const Unit& unit : type.units) {
            for (const UnitDevice& part : unit.devices)
                files.insert(part.device.files.begin(), part.device.files.end());
        }
    }
    for (const GivenDevice& one : given) {
        for (const std::string& file : one.device->files)
            files.erase(file);
    }
    return {files.begin(), files.end()};
}

/// Where units without cores of their own run.
std::vector<std::int64_t> host_cpus(const std::vector<const Unit*>& units)
{
    std::set<std::int64_t> cpus;
    for (const Unit* unit : units)
        cpus.insert(unit->host_cpus.begin(), unit->host_cpus.end());
    return {cpus.begin(), cpus.end()};
}

} // namespace

void pass_devices(RunOrder& run, const UnitPlan& plan, const UnitType& type, const std::vector<std::int64_t>& units)
{
    for (const UnitType& other : plan) {
        if (other.units.empty() || other.units.front().devices.empty()) continue;
        if (const std::string& variable = other.units.front().devices.front().device.variable; !variable.empty())
            set(run, variable, "");
    }
    run.order.environment.erase("FATHOM_DEVICES");
    const std::vector<const Unit*> own = units_at(type, units);
    const std::vector<GivenDevice> given = given_devices(own);
    run.hidden_files = files_of_others(plan, given);
    if (given.empty()) return;

    std::vector<std::string> values;
    std::vector<std::string> names;
    for (const GivenDevice& one : given)
        values.push_back(one.device->value);
    for (const Unit* unit : own) {
        const std::vector<std::string> some = device_names(*unit);
        names.insert(names.end(), some.begin(), some.end());
    }
    if (!given.front().device->variable.empty()) set(run, given.front().device->variable, joined(values));
    set(run, "FATHOM_DEVICES", joined(names));
    if (type.sharing == DeviceSharing::kMps) limit_shares(run, given);
    if (!run.cpus.empty()) return;
    run.cpus = host_cpus(own);
    run.cores = std::max<std::int64_t>(run.cores, std::ssize(units));
}

} // namespace fathom::agent
