#include "probes/runner/resources.hpp"

#include "core/base/parse_number.hpp"
#include "probes/runner/cgroups.hpp"
#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace fathom::probes {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The number that an environment variable holds; `otherwise` when it is not set or empty.
Result<std::int64_t> environment_number(const char* variable, std::int64_t otherwise)
{
    const char* const set = std::getenv(variable);
    const std::string_view text = set != nullptr ? set : "";
    if (text.empty()) return otherwise;
    const auto value = parse_number<std::int64_t>(text);
    if (!value || *value < 1 || *value > 1'000'000)
        return Error{Errc::kInvalid, std::string(variable) + " must be a whole number of at least 1, not \"" +
                                         std::string(text) + "\""};
    return *value;
}

struct CgroupFiles {
    const char* limit;
    const char* usage;
    const char* reclaimable; ///< key in memory.stat: file pages that count as used but can be dropped
};
constexpr CgroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr CgroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

/// Version 1 writes "no limit" as a number near 2^63.
constexpr double kNoLimit_bytes = 1e18;

double stat_value(const std::string& text, const std::string& key)
{
    std::istringstream lines(text);
    std::string name;
    double value = 0;
    while (lines >> name >> value) {
        if (name == key) return value;
    }
    return 0;
}

/// The least that the control groups leave.
double left_by_cgroups()
{
    double left = kUnlimited;
    for (const CgroupFolder& folder : cgroup_folders("memory")) {
        const CgroupFiles& files = folder.version == 1 ? kVersion1 : kVersion2;
        const std::optional<double> limit = leading_number(proc_text(folder.path + files.limit));
        if (!limit) continue;
        const double usage = leading_number(proc_text(folder.path + files.usage)).value_or(0);
        const double reclaimable = stat_value(proc_text(folder.path + "memory.stat"), files.reclaimable);
        left = std::min(left, *limit - usage + reclaimable);
    }
    return left;
}

double left_by_limit(decltype(RLIMIT_AS) resource, double used_bytes)
{
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
    return static_cast<double>(limit.rlim_cur) - used_bytes;
}

} // namespace

std::vector<int> allowed_cpus()
{
    // A mask for more processors than glibc's fixed set has: grow until the kernel is content.
    for (std::size_t processors = 1024; processors <= 1U << 20U; processors *= 2) {
        std::vector<cpu_set_t> set(processors / 8 / sizeof(cpu_set_t));
        const std::size_t bytes = set.size() * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, set.data()) != 0) continue;
        std::vector<int> cpus;
        for (std::size_t cpu = 0; cpu < processors; ++cpu) {
            if (CPU_ISSET_S(cpu, bytes, set.data())) cpus.push_back(static_cast<int>(cpu));
        }
        return cpus.empty() ? std::vector{0} : cpus;
    }
    return {0};
}

Result<int> usable_cores()
{
    const int allowed = static_cast<int>(allowed_cpus().size());
    const Result<std::int64_t> asked = environment_number("FATHOM_CORES", allowed);
    if (!asked) return asked.error();
    return static_cast<int>(std::min<std::int64_t>(*asked, allowed));
}

Result<std::int64_t> unit_count()
{
    return environment_number("FATHOM_UNITS", 1);
}

double usable_memory_bytes()
{
    double usable = left_by_cgroups();
    if (const auto free_kb = leading_number(proc_value(proc_text("/proc/meminfo"), "MemAvailable")))
        usable = std::min(usable, *free_kb * 1024);
    std::istringstream statm(proc_text("/proc/self/statm")); // in pages: size resident shared text lib data
    double size = 0;
    double ignored = 0;
    double data = 0;
    statm >> size >> ignored >> ignored >> ignored >> ignored >> data;
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    usable = std::min(usable, left_by_limit(RLIMIT_AS, size * page));
    usable = std::min(usable, left_by_limit(RLIMIT_DATA, data * page));
    return std::max(usable, 0.0);
}

std::optional<double> memory_limit_bytes()
{
    std::optional<double> least;
    for (const CgroupFolder& folder : cgroup_folders("memory")) {
        const char* const file = folder.version == 1 ? kVersion1.limit : kVersion2.limit;
        const std::optional<double> limit = leading_number(proc_text(folder.path + file));
        if (limit && *limit < kNoLimit_bytes) least = std::min(least.value_or(*limit), *limit);
    }
    return least;
}

std::optional<double> cpu_quota_cores()
{
    std::optional<double> least;
    for (const CgroupFolder& folder : cgroup_folders("cpu")) {
        std::string text = folder.version == 1 ? proc_text(folder.path + "cpu.cfs_quota_us") + " " +
                                                     proc_text(folder.path + "cpu.cfs_period_us")
                                               : proc_text(folder.path + "cpu.max"); // "max 100000"
        std::istringstream words(std::move(text));
        double quota_us = 0;
        double period_us = 0;
        if (!(words >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) continue;
        least = std::min(least.value_or(quota_us / period_us), quota_us / period_us);
    }
    return least;
}

std::chrono::steady_clock::time_point process_start(std::chrono::steady_clock::time_point main_entered)
{
    const std::string stat = proc_text("/proc/self/stat");
    const std::size_t name_end = stat.rfind(')'); // the name may hold blanks
    if (name_end == std::string::npos) return main_entered;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 22; ++field)
        fields >> skipped;
    double start_ticks = 0;
    timespec since_boot{};
    if (!(fields >> start_ticks) || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return main_entered;

    const auto now = std::chrono::steady_clock::now();
    const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    const double uptime_s = static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) * 1e-9;
    const double age_s = uptime_s - (start_ticks + 0.5) / ticks_per_s;
    const auto start = now - std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(age_s));
    return std::min(start, main_entered);
}

} // namespace fathom::probes
