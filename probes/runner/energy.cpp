#include "probes/runner/energy.hpp"

#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace fathom::probes {
namespace {

Json absent(const std::string& why)
{
    return {{"absent", why}};
}

/// The folders in a folder, sorted; none when it cannot be read.
std::vector<std::string> folders_in(const std::string& folder)
{
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        paths.push_back(entry->path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string one_line(const std::string& path)
{
    std::string text = proc_text(path);
    return text.substr(0, text.find('\n'));
}

/// Packages hold their cores, and memory is beside them; a zone "psys" would count both again.
bool is_counted(const std::string& name)
{
    return name.starts_with("package") || name == "dram";
}

} // namespace

EnergyMeter::EnergyMeter(std::string system)
{
    why_absent_ = "this host has no energy counters (powercap)";
    for (const std::string& folder : folders_in(system + "/class/powercap")) {
        // As "intel-rapl:0" and "intel-rapl:0:2"; "intel-rapl-mmio:0" are the same counters once more.
        if (!std::filesystem::path(folder).filename().string().starts_with("intel-rapl:")) continue;
        const std::string name = one_line(folder + "/name");
        if (!is_counted(name)) continue;
        const std::optional<double> before = leading_number(one_line(folder + "/energy_uj"));
        if (!before) {
            why_absent_ = "the host's energy counters may not be read by this user (" + folder + "/energy_uj)";
            continue;
        }
        const double range = leading_number(one_line(folder + "/max_energy_range_uj")).value_or(0);
        zones_.push_back({folder, name, *before, range});
    }
}

Json EnergyMeter::read() const
{
    if (zones_.empty()) return absent(why_absent_);
    double joules = 0;
    Json names = Json::array();
    for (const Zone& zone : zones_) {
        const std::optional<double> now = leading_number(one_line(zone.folder + "/energy_uj"));
        if (!now) return absent("an energy counter is gone (" + zone.folder + ")");
        double used_uj = *now - zone.before_uj;
        if (used_uj < 0 && zone.range_uj == 0)
            return absent("an energy counter began anew, and its range is not known (" + zone.folder + ")");
        if (used_uj < 0) used_uj += zone.range_uj;
        joules += used_uj * 1e-6;
        names.push_back(zone.name);
    }
    return {{"joules", joules}, {"of", std::move(names)}};
}

Json read_sensors(const std::string& system, const std::vector<int>& cpus)
{
    double sum_khz = 0;
    int count = 0;
    for (const int cpu : cpus) {
        const std::optional<double> khz = leading_number(
            one_line(system + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq"));
        if (!khz) continue;
        sum_khz += *khz;
        ++count;
    }
    std::optional<double> hottest;
    for (const std::string& folder : folders_in(system + "/class/hwmon")) {
        const std::string name = one_line(folder + "/name");
        constexpr std::array kProcessors{"coretemp", "k10temp", "zenpower", "cpu_thermal"};
        if (std::find(kProcessors.begin(), kProcessors.end(), name) == kProcessors.end()) continue;
        constexpr int kMaxSensors = 512;
        for (int sensor = 1; sensor <= kMaxSensors; ++sensor) {
            const std::string text = one_line(folder + "/temp" + std::to_string(sensor) + "_input");
            const std::optional<double> thousandths = leading_number(text);
            if (thousandths) hottest = std::max(hottest.value_or(-273), *thousandths * 1e-3);
        }
    }
    Json facts = Json::object();
    facts["cpu_hz"] = count > 0 ? Json(1000 * sum_khz / count) : absent("the kernel tells no clock rate (cpufreq)");
    facts["cpu_celsius"] = hottest ? Json(*hottest) : absent("the host has no sensor of its processors (hwmon)");
    return facts;
}

} // namespace fathom::probes
