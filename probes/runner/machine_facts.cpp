#include "probes/runner/machine_facts.hpp"

#include "core/base/last_level_cache.hpp"
#include "core/base/parse_number.hpp"
#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>

namespace fathom::probes {
namespace {

/// The first word of a file; empty when there is none.
std::string first_word(const std::string& path)
{
    std::istringstream text(proc_text(path));
    std::string word;
    text >> word;
    return word;
}

/// The names in a folder that start so; none when it cannot be read.
std::vector<std::string> names_in(const std::string& folder, std::string_view start)
{
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::string name = entry->path().filename();
        if (name.starts_with(start)) names.push_back(std::move(name));
    }
    return names;
}

std::string folder_of(const std::string& system, int cpu)
{
    return system + "/devices/system/cpu/cpu" + std::to_string(cpu);
}

/// All processors of a core, by the folder of one of them; empty when the kernel does not tell.
std::set<std::int64_t> core_of(const std::string& folder)
{
    std::string list = first_word(folder + "/topology/core_cpus_list");
    if (list.empty()) list = first_word(folder + "/topology/thread_siblings_list"); // before Linux 5.3
    return read_kernel_cpu_list(list);
}

void add_topology(const std::string& system, const std::vector<int>& cpus, Json& facts)
{
    std::set<std::set<std::int64_t>> cores;
    std::set<std::int64_t> siblings;
    std::set<std::string> nodes;
    for (const int cpu : cpus) {
        const std::string folder = folder_of(system, cpu);
        std::set<std::int64_t> core = core_of(folder);
        siblings.insert(core.begin(), core.end());
        if (!core.empty()) cores.insert(std::move(core));
        for (std::string& node : names_in(folder, "node"))
            nodes.insert(std::move(node));
    }
    facts["cpus_allowed_count"] = cpus.size();
    if (!cores.empty()) {
        const auto outside = std::count_if(siblings.begin(), siblings.end(), [&](std::int64_t cpu) {
            return !std::binary_search(cpus.begin(), cpus.end(), cpu);
        });
        facts["cores_allowed"] = cores.size();
        facts["siblings_outside"] = outside;
    }
    if (!nodes.empty()) facts["numa_nodes_used"] = nodes.size();
}

/// Where a virtual machine hides its caches a number would be a guess.
void add_caches(const std::string& system, const std::vector<int>& cpus, Json& facts)
{
    const std::vector<std::int64_t> numbers(cpus.begin(), cpus.end());
    const std::optional<std::int64_t> bytes = last_level_cache_bytes(read_last_level_caches(system, numbers), numbers);
    facts["last_level_cache_bytes"] =
        bytes ? Json(*bytes) : Json{{"absent", "the kernel tells no cache of a processor"}};
    for (const auto& [level, sizes] : read_cache_levels(system, numbers))
        facts["caches"]["L" + std::to_string(level)] = {{"one_bytes", sizes.one_bytes}, {"all_bytes", sizes.all_bytes}};
}

void add_clock(const std::string& folder, Json& facts)
{
    if (std::string governor = first_word(folder + "/scaling_governor"); !governor.empty())
        facts["cpu_governor"] = std::move(governor);
    if (std::string driver = first_word(folder + "/scaling_driver"); !driver.empty())
        facts["cpu_frequency_driver"] = std::move(driver);
    if (const std::optional<double> max_khz = leading_number(first_word(folder + "/cpuinfo_max_freq")))
        facts["cpu_max_hz"] = *max_khz * 1000;
}

/// The word in brackets of "always [madvise] never".
void add_hugepages(const std::string& text, Json& facts)
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open != std::string::npos && close != std::string::npos && open < close)
        facts["transparent_hugepages"] = text.substr(open + 1, close - open - 1);
}

/// The number after "channel" in "csrow 0 channel 3 " or "channel 3 slot 0 ".
std::optional<int> channel_in(const std::string& location)
{
    std::istringstream words(location);
    std::string word;
    int channel = 0;
    while (words >> word) {
        if (word == "channel" && words >> channel) return channel;
    }
    return std::nullopt;
}

/// What the drivers of memory controllers know: how many channels there are, and on how many of them modules are.
void add_memory_channels(const std::string& folder, Json& facts)
{
    int channels = 0;
    std::size_t used = 0;
    for (const std::string& controller : names_in(folder, "mc")) {
        const std::string path = folder + "/" + controller;
        const std::optional<int> last = channel_in(proc_text(path + "/max_location"));
        if (!last) continue;
        std::set<int> with_modules;
        for (const std::string& module : names_in(path, "dimm")) {
            const std::optional<int> channel = channel_in(proc_text(path + "/" + module + "/dimm_location"));
            if (channel) with_modules.insert(*channel);
        }
        channels += *last + 1;
        used += with_modules.size();
    }
    if (used == 0) return;
    facts["memory_channels"] = channels;
    facts["memory_channels_used"] = used;
}

} // namespace

Json machine_facts(const std::string& system, const std::vector<int>& cpus)
{
    Json facts = Json::object();
    add_topology(system, cpus, facts);
    add_caches(system, cpus, facts);
    add_clock(folder_of(system, cpus.front()) + "/cpufreq", facts);
    add_hugepages(proc_text(system + "/kernel/mm/transparent_hugepage/enabled"), facts);
    add_memory_channels(system + "/devices/system/edac/mc", facts);
    return facts;
}

std::vector<int> sorted_by_core(const std::string& system, const std::vector<int>& cpus)
{
    std::vector<std::tuple<std::int64_t, std::int64_t, int>> places; // node, first processor of the core, processor
    for (const int cpu : cpus) {
        const std::string folder = folder_of(system, cpu);
        std::int64_t node = 0;
        for (const std::string& name : names_in(folder, "node"))
            node = parse_number<std::int64_t>(std::string_view(name).substr(4)).value_or(node);
        const std::set<std::int64_t> core = core_of(folder);
        places.emplace_back(node, core.empty() ? cpu : *core.begin(), cpu);
    }
    std::sort(places.begin(), places.end());
    std::vector<int> sorted;
    for (const auto& [node, core, cpu] : places)
        sorted.push_back(cpu);
    return sorted;
}

} // namespace fathom::probes
