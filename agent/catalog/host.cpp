#include "agent/catalog/host.hpp"

#include "agent/config/cpu_list.hpp"

#include <hwloc.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Result<Topology> load_topology()
{
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return Error{Errc::kInternal, "hwloc cannot start"};
    Topology topology(raw, &hwloc_topology_destroy);
    if (hwloc_topology_load(raw) != 0) return Error{Errc::kInternal, "hwloc cannot read this machine's topology"};
    return topology;
}

/// The NUMA node that holds the object; 0 when the machine has none to tell apart.
std::int64_t numa_node_of(hwloc_topology_t topology, hwloc_obj_t object)
{
    hwloc_obj_t node = nullptr;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
        if (hwloc_bitmap_isincluded(object->cpuset, node->cpuset) != 0) return node->os_index;
    }
    return 0;
}

std::vector<HostCore> cores_of(hwloc_topology_t topology, const std::set<std::int64_t>& offered)
{
    std::vector<HostCore> cores;
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
        HostCore entry{numa_node_of(topology, core), {}};
        for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(core->cpuset, cpu)) {
            if (offered.contains(cpu)) entry.cpus.push_back(cpu);
        }
        if (!entry.cpus.empty()) cores.push_back(std::move(entry));
    }
    return cores;
}

/// The size of one cache of that kind. Not there, or hidden by a virtual machine: left out.
void add_cache(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name, Json& facts)
{
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    if (cache != nullptr && cache->attr->cache.size > 0) facts[name] = cache->attr->cache.size;
}

std::int64_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

/// The value behind the first line of /proc/cpuinfo that starts with `key`.
std::string cpuinfo_value(std::string_view key)
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
    return "";
}

/// The instruction sets that numerical libraries choose by; /proc/cpuinfo names a hundred flags.
Json instruction_sets()
{
    static constexpr std::array kOfInterest{
        "sse4_2",   "avx",      "avx2",     "fma",      "f16c",        "avx_vnni",    "avx512f",
        "avx512dq", "avx512cd", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
        "amx_tile", "amx_bf16", "amx_int8", "asimd",    "sve",         "sve2",        "bf16"};
    std::string text = cpuinfo_value("flags");
    if (text.empty()) text = cpuinfo_value("Features"); // on ARM
    std::istringstream words(text);
    const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    Json names = Json::array();
    for (const char* name : kOfInterest) {
        if (flags.contains(name)) names.push_back(name);
    }
    return names;
}

Json processor_facts(hwloc_topology_t topology)
{
    Json facts = {{"cpu_model", cpuinfo_value("model name")},
                  {"isa", instruction_sets()},
                  {"numa_nodes", count_of(topology, HWLOC_OBJ_NUMANODE)}};
    add_cache(topology, HWLOC_OBJ_L1CACHE, "l1d_bytes", facts);
    add_cache(topology, HWLOC_OBJ_L2CACHE, "l2_bytes", facts);
    add_cache(topology, HWLOC_OBJ_L3CACHE, "l3_bytes", facts);
    return facts;
}

/// The processors of all cores, ascending.
std::vector<std::int64_t> cpus_of(const Host& host)
{
    std::vector<std::int64_t> cpus;
    for (const HostCore& core : host.cores)
        cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

Json machine_facts(const Host& host, hwloc_topology_t topology)
{
    struct utsname name{};
    ::uname(&name);
    return {{"hostname", name.nodename},
            {"kernel", std::string(name.sysname) + " " + name.release},
            {"architecture", name.machine},
            {"packages", count_of(topology, HWLOC_OBJ_PACKAGE)},
            {"numa_nodes", count_of(topology, HWLOC_OBJ_NUMANODE)},
            {"host_cores", host.host_cores},
            {"memory_bytes", host.memory_bytes},
            {"offered_cpus", format_cpu_list(cpus_of(host))}};
}

} // namespace

Result<Host> discover_host(const std::vector<std::int64_t>& offered)
{
    const std::vector<std::int64_t> allowed = allowed_cpus();
    const std::set<std::int64_t> usable(allowed.begin(), allowed.end());
    for (const std::int64_t cpu : offered) {
        if (!usable.contains(cpu))
            return Error{Errc::kInvalid,
                         "cores names processor " + std::to_string(cpu) + ", but this agent may only use " +
                             format_cpu_list(allowed),
                         {{"cores", "names a processor that is not there"}}};
    }
    Result<Topology> topology = load_topology();
    if (!topology) return topology.error();
    const hwloc_topology_t raw = topology->get();

    Host host;
    host.cores = cores_of(raw, offered.empty() ? usable : std::set<std::int64_t>(offered.begin(), offered.end()));
    host.host_cores = count_of(raw, HWLOC_OBJ_CORE);
    host.host_threads = count_of(raw, HWLOC_OBJ_PU);
    // Not hwloc's sum over NUMA nodes: machines whose memory grows while they run report less there.
    host.memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    host.last_level_caches = read_last_level_caches("/sys", cpus_of(host));
    host.processor = processor_facts(raw);
    host.machine = machine_facts(host, raw);
    if (host.cores.empty()) return Error{Errc::kInternal, "hwloc finds no processor core on this machine"};
    return host;
}

} // namespace fathom::agent
