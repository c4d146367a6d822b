#include "probes/runner/host_facts.hpp"

#include "probes/operators/cuda_library.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/machine_facts.hpp"
#include "probes/runner/proc_files.hpp"
#include "probes/runner/resources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

/// The instruction sets that numerical libraries choose by; "Features" is the key on Arm.
Json instruction_sets(const std::string& cpuinfo)
{
    constexpr std::array kWanted{"sse4_2",      "avx",         "fma",      "avx2",     "avx_vnni",
                                 "avx512f",     "avx512bw",    "avx512vl", "avx512dq", "avx512_vnni",
                                 "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8",
                                 "asimd",       "sve",         "sve2",     "i8mm",     "bf16"};
    std::string flags = proc_value(cpuinfo, "flags");
    if (flags.empty()) flags = proc_value(cpuinfo, "Features");
    flags = " " + flags + " ";
    Json found = Json::array();
    for (const std::string name : kWanted) {
        if (flags.find(" " + name + " ") != std::string::npos) found.push_back(name);
    }
    return found;
}

Json load_averages()
{
    std::istringstream text(proc_text("/proc/loadavg"));
    Json loads = Json::array();
    for (double load = 0; loads.size() < 3 && text >> load;)
        loads.push_back(load);
    return loads;
}

double steal_s()
{
    // "cpu  user nice system idle iowait irq softirq steal …", in ticks
    std::istringstream line(proc_text("/proc/stat"));
    std::string name;
    std::array<double, 8> ticks{};
    line >> name;
    for (double& value : ticks)
        line >> value;
    return ticks.back() / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double seconds(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The device that is measured, with the version of its kernel driver.
Json gpu_facts(const CudaDevice& device)
{
    Json facts = {{"name", device.name},
                  {"compute_capability", device.compute_capability},
                  {"multiprocessors", device.multiprocessors},
                  {"memory_bytes", device.memory_bytes},
                  {"memory_free_bytes", device.free_memory_bytes},
                  {"ecc", device.has_ecc},
                  {"cuda_runtime", device.runtime_version},
                  {"cuda_driver", device.driver_version}};
    if (device.clock_hz > 0) facts["clock_hz"] = device.clock_hz;
    if (device.memory_clock_hz > 0) facts["memory_clock_hz"] = device.memory_clock_hz;
    std::istringstream version(proc_text("/sys/module/nvidia/version")); // "580.65.06"
    if (std::string driver; version >> driver) facts["driver"] = driver;
    return facts;
}

} // namespace

HostFacts::HostFacts() : facts_(Json::object()), energy_("/sys"), steal_before_s_(steal_s())
{
    std::array<char, 256> hostname{};
    if (gethostname(hostname.data(), hostname.size() - 1) == 0) facts_["hostname"] = hostname.data();
    const std::string cpuinfo = proc_text("/proc/cpuinfo");
    facts_.update(machine_facts("/sys", allowed_cpus()));
    if (const std::optional<double> cores = cpu_quota_cores()) facts_["cpu_quota_cores"] = *cores;
    if (const std::optional<double> bytes = memory_limit_bytes()) facts_["memory_limit_bytes"] = *bytes;
    facts_["cpu_model"] = proc_value(cpuinfo, "model name");
    facts_["isa"] = instruction_sets(cpuinfo);
    facts_["compiler"] = compiler_name();
    facts_["cpus_online"] = sysconf(_SC_NPROCESSORS_ONLN);
    facts_["cpus_allowed"] = proc_value(proc_text("/proc/self/status"), "Cpus_allowed_list");
    facts_["load_before"] = load_averages();
    const std::string meminfo = proc_text("/proc/meminfo");
    facts_["memory_bytes"] = leading_number(proc_value(meminfo, "MemTotal")).value_or(0) * 1024;
    facts_["memory_usable_bytes"] = usable_memory_bytes();
    if (const CudaDevice* const device = used_cuda_device()) {
        facts_["gpu"] = gpu_facts(*device);
        const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
        gpu_energy_.emplace(visible == nullptr ? "" : visible);
    }
    const BlasCore core = blas_core();
    facts_["openblas_core"] = core.used;
    if (!core.better.empty()) facts_["openblas_better_core"] = core.better;
}

Json HostFacts::finish() const
{
    Json facts = facts_;
    facts["energy"] = energy_.read();
    if (gpu_energy_) facts["gpu"]["energy"] = gpu_energy_->read();
    facts.update(read_sensors("/sys", allowed_cpus()));
    facts["steal_s"] = std::max(0.0, steal_s() - steal_before_s_);
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        facts["voluntary_context_switches"] = usage.ru_nvcsw;
        facts["involuntary_context_switches"] = usage.ru_nivcsw;
        facts["user_cpu_s"] = seconds(usage.ru_utime);
        facts["system_cpu_s"] = seconds(usage.ru_stime);
        facts["max_resident_bytes"] = usage.ru_maxrss * 1024;
    }
    return facts;
}

} // namespace fathom::probes
