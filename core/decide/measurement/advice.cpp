#include "core/decide/measurement/advice.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/measurement/processor_peak.hpp"
#include "core/model/probe_result.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// A library that fits its processor reaches four fifths of what that can do; and processors that split the widest
/// instructions can do half of peak_flops_per_cycle. So under 0.8 / 2, with a margin, something is wrong.
constexpr double kGoodShareOfPeak = 0.3;
/// Operations for each core from which on a product is large: 512 × 512 × 512.
constexpr double kLargeProduct = 2.0 * 512 * 512 * 512;
/// Processors clock down under wide instructions and when all cores work: by less than this.
constexpr double kGoodShareOfClock = 0.75;
/// Over a whole run. Less is the price of sharing a machine.
constexpr double kLittleSteal = 0.02;
constexpr double kLittleLoad = 0.1;

/// Facts as a center sent them: read leniently.
class Facts {
  public:
    explicit Facts(const Json& json) : json_(&json) {}

    std::optional<double> number(const char* name) const
    {
        const Json* const value = find(name);
        if (value == nullptr || !value->is_number()) return std::nullopt;
        const double number = value->get<double>();
        return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
    }

    std::string text(const char* name) const
    {
        constexpr std::size_t kMaxDuration = 64;
        const Json* const value = find(name);
        return value != nullptr && value->is_string()
                   ? std::string(utf8_prefix(value->get_ref<const std::string&>(), kMaxDuration))
                   : std::string();
    }

    std::vector<std::string> texts(const char* name) const
    {
        std::vector<std::string> found;
        const Json* const value = find(name);
        if (value == nullptr || !value->is_array()) return found;
        for (const Json& item : *value) {
            if (item.is_string()) found.push_back(item.get<std::string>());
        }
        return found;
    }

    Facts object(const char* name) const
    {
        static const Json kNone = Json::object();
        const Json* const value = find(name);
        return Facts(value != nullptr && value->is_object() ? *value : kNone);
    }

    bool has(const char* name) const { return find(name) != nullptr; }

  private:
    const Json* find(const char* name) const
    {
        if (!json_->is_object()) return nullptr;
        const auto found = json_->find(name);
        return found == json_->end() ? nullptr : &*found;
    }

    const Json* json_;
};

/// One result and what is asked of it all the time.
struct Situation {
    const ProbeResult& result;
    Facts facts;
    Facts disturbance;
    double cores = 0; ///< that the units of the run have; 0: not known
    double memory_bytes = 0;
};

using Advices = std::vector<Advice>;

std::string whole(double value)
{
    return std::to_string(std::llround(value));
}

std::string percent(double share)
{
    return whole(100 * share) + " %";
}

/// Of the cores' clock, as measured while they worked, else as the kernel says it may be.
std::optional<double> clock_hz(const Situation& situation)
{
    const std::optional<double> measured = situation.disturbance.number("core_clock_hz");
    return measured ? measured : situation.facts.number("cpu_max_hz");
}

void add_blas_core(const Situation& situation, Advices& advices)
{
    const std::string used = situation.facts.text("openblas_core");
    const std::string better = situation.facts.text("openblas_better_core");
    if (better.empty()) return;
    advices.push_back({"blas_core",
                       "OpenBLAS took this processor for " + used + ", whose kernels do not use what it can do.",
                       {{"openblas_core", used}, {"openblas_better_core", better}},
                       "Set OPENBLAS_CORETYPE=" + better + " in the environment of the center's jobs."});
}

void add_dgemm_rate(const Situation& situation, Advices& advices)
{
    const std::optional<double> clock = clock_hz(situation);
    const std::vector<std::string> isa = situation.facts.texts("isa");
    const double per_cycle = peak_flops_per_cycle(isa, "fp64");
    const auto cores = static_cast<double>(situation.result.cores);
    double best_flops = 0;
    for (const OperatorResult& item : situation.result.operators) {
        if (item.id == "dgemm" && item.operations >= kLargeProduct * cores)
            best_flops = std::max(best_flops, item.rate_flops());
    }
    if (!clock || isa.empty() || best_flops <= 0) return;
    const double peak_flops = cores * *clock * per_cycle;
    const double share = best_flops / peak_flops;
    if (share >= kGoodShareOfPeak) return;
    Json evidence = {{"dgemm_flops", best_flops},
                     {"peak_flops", peak_flops},
                     {"cores", situation.result.cores},
                     {"clock_hz", *clock},
                     {"operations_per_cycle", per_cycle}};
    std::string message = "Dense matrix products reach " + percent(share) +
                          " of what the cores' widest instructions can do; 40 to 90 % is usual.";
    std::string remedy = "Check which BLAS library jobs use, how many threads it may start, and the other advice.";
    const std::optional<double> threads = situation.facts.object("library_threads").number("openblas");
    if (threads && *threads < cores) {
        evidence["openblas_threads"] = *threads;
        message += " Threads of OpenBLAS: " + whole(*threads) + ", for " + whole(cores) + " cores.";
        remedy =
            "Give jobs a BLAS library that is built for as many threads as units have cores, cut smaller units, or "
            "raise OPENBLAS_NUM_THREADS where the center sets it.";
    }
    advices.push_back({"dgemm_rate", std::move(message), std::move(evidence), std::move(remedy)});
}

void add_affinity(const Situation& situation, Advices& advices)
{
    const std::optional<double> allowed = situation.facts.number("cpus_allowed_count");
    if (!allowed || situation.cores <= 0) return;
    const double cores_allowed = situation.facts.number("cores_allowed").value_or(*allowed);
    const Json evidence = {{"cpus_allowed_count", *allowed}, {"unit_cores", situation.cores}};
    if (*allowed < situation.cores) {
        advices.push_back({"affinity_narrow",
                           "The run could use " + whole(*allowed) + " processors, but its units are said to have " +
                               whole(situation.cores) + " cores.",
                           evidence, "Give jobs as many processors as their units have, or correct the unit type."});
    } else if (cores_allowed > situation.cores) {
        advices.push_back({"affinity_wide",
                           "The run was not bound to its units: it could wander over " + whole(*allowed) +
                               " processors, and its units have " + whole(situation.cores) + " cores.",
                           evidence, "Bind each job to the processors of its units."});
    }
}

void add_placement(const Situation& situation, Advices& advices)
{
    const double allowed = situation.facts.number("cpus_allowed_count").value_or(0);
    const std::optional<double> cores = situation.facts.number("cores_allowed");
    const double outside = situation.facts.number("siblings_outside").value_or(0);
    if (cores && *cores < allowed)
        advices.push_back(
            {"hyperthreads",
             "The " + whole(allowed) + " processors of the run are hardware threads of " + whole(*cores) + " cores.",
             {{"cpus_allowed_count", allowed}, {"cores_allowed", *cores}},
             "Cut units by whole cores, and count hardware threads of one core once."});
    if (outside > 0)
        advices.push_back({"shared_cores",
                           whole(outside) +
                               " processors outside the units are hardware threads of the same cores: what "
                               "runs there slows the units down.",
                           {{"siblings_outside", outside}},
                           "Give both hardware threads of a core to the same unit."});
    const std::optional<double> nodes = situation.facts.number("numa_nodes_used");
    if (nodes && *nodes > 1)
        advices.push_back(
            {"numa",
             "The units' cores lie on " + whole(*nodes) + " NUMA nodes: part of their memory is far away.",
             {{"numa_nodes_used", *nodes}},
             "Cut units so that the cores of each lie on one NUMA node."});
}

void add_clock(const Situation& situation, Advices& advices)
{
    const std::optional<double> measured = situation.disturbance.number("core_clock_hz");
    const std::optional<double> highest = situation.facts.number("cpu_max_hz");
    if (!measured || !highest || *measured >= kGoodShareOfClock * *highest) return;
    const std::string governor = situation.facts.text("cpu_governor");
    const Json evidence = {{"core_clock_hz", *measured}, {"cpu_max_hz", *highest}, {"cpu_governor", governor}};
    const std::string message = "The cores ran at " + percent(*measured / *highest) + " of their highest clock rate";
    // Under some drivers "powersave" is the ordinary governor: it is to blame only when the clock is low.
    if (governor == "powersave" || governor == "conservative" || governor == "userspace")
        advices.push_back({"governor", message + ", and their frequency governor is " + governor + ".", evidence,
                           "Set the governor to performance while jobs run."});
    else
        advices.push_back(
            {"clock", message + ".", evidence, "Check cooling, power limits, and the power profile of the machine."});
}

void add_limits(const Situation& situation, Advices& advices)
{
    const std::optional<double> quota = situation.facts.number("cpu_quota_cores");
    if (quota && *quota < situation.cores)
        advices.push_back({"cpu_quota",
                           "A control group grants " + percent(*quota / situation.cores) +
                               " of the processor time that the units' cores could give.",
                           {{"cpu_quota_cores", *quota}, {"unit_cores", situation.cores}},
                           "Raise the quota of the container or service to the units' cores, or offer fewer cores."});
    const std::optional<double> memory = situation.facts.number("memory_limit_bytes");
    if (memory && *memory < situation.memory_bytes)
        advices.push_back({"memory_limit",
                           "A control group grants " + percent(*memory / situation.memory_bytes) +
                               " of the memory that the units are said to have.",
                           {{"memory_limit_bytes", *memory}, {"unit_memory_bytes", situation.memory_bytes}},
                           "Raise the memory limit of the container or service, or offer less memory."});
}

void add_neighbours(const Situation& situation, Advices& advices)
{
    const double available_s = situation.result.wall_s * static_cast<double>(situation.result.cores);
    if (available_s <= 0) return;
    const double stolen = situation.disturbance.number("stolen_s").value_or(0) / available_s;
    if (stolen > kLittleSteal)
        advices.push_back({"steal",
                           "The hypervisor took " + percent(stolen) + " of the cores' time for other machines.",
                           {{"stolen_share", stolen}},
                           "Run fewer virtual machines on the host, or bind this one's processors."});
    const double others = situation.disturbance.number("used_by_others_s").value_or(0) / available_s;
    if (others > kLittleLoad)
        advices.push_back({"load",
                           "Other programs used " + percent(others) + " as much processor time as the units have.",
                           {{"used_by_others_share", others}},
                           "Keep what is not a job of the network off the units' processors."});
}

void add_memory(const Situation& situation, Advices& advices)
{
    if (situation.facts.text("transparent_hugepages") == "never")
        advices.push_back({"hugepages",
                           "Large memory pages are switched off: programs with much memory lose time translating "
                           "addresses.",
                           {{"transparent_hugepages", "never"}},
                           "Set /sys/kernel/mm/transparent_hugepage/enabled to madvise or always."});
    const std::optional<double> channels = situation.facts.number("memory_channels");
    const std::optional<double> used = situation.facts.number("memory_channels_used");
    if (channels && used && *used < *channels)
        advices.push_back({"memory_channels",
                           "Modules are on " + whole(*used) + " of " + whole(*channels) +
                               " memory channels: the bandwidth is smaller in proportion.",
                           {{"memory_channels", *channels}, {"memory_channels_used", *used}},
                           "Put memory modules on every channel."});
}

} // namespace

std::vector<Advice> advise(const ProbeResult& result, const UnitSize& unit)
{
    const auto units = static_cast<double>(result.unit_count);
    const Facts facts(result.host);
    const Situation situation{result, facts, facts.object("disturbance"), units * static_cast<double>(unit.cores),
                              units * static_cast<double>(unit.memory_bytes)};
    std::vector<Advice> advices;
    if (!facts.has("gpu")) { // else the processors only serve the device
        add_blas_core(situation, advices);
        add_dgemm_rate(situation, advices);
    }
    add_affinity(situation, advices);
    add_placement(situation, advices);
    add_clock(situation, advices);
    add_limits(situation, advices);
    add_neighbours(situation, advices);
    add_memory(situation, advices);
    return advices;
}

Json to_json(const Advice& advice)
{
    return {
        {"kind", advice.kind}, {"message", advice.message}, {"evidence", advice.evidence}, {"remedy", advice.remedy}};
}

} // namespace fathom
