#include "agent/catalog/catalog.hpp"

#include "agent/catalog/nvidia.hpp"
#include "agent/catalog/run_program.hpp"
#include "agent/config/cpu_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kProbeListLimit{20};

/// The value of a text field, or empty: the list is read leniently, since a runner may be newer.
std::string text_at(const Json& json, const char* name)
{
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

/// The probe program's list, on a resource type.
/// @param environment  beside that of every job.
Result<Json> ask_for_list(const AgentConfig& config, const std::string& resource_type,
                          const std::map<std::string, std::string>& environment)
{
    std::map<std::string, std::string> variables = config.tables.environment;
    for (const auto& [name, value] : environment)
        variables[name] = value;
    const Result<std::string> output =
        run_program({config.probe_program.string(), "--list", "--output", "json", "--resource-type", resource_type},
                    variables, kProbeListLimit);
    if (!output) return output.error();
    Result<Json> json = parse_json(*output);
    if (json && (!json->is_object() || !json->contains("operators") || !(*json)["operators"].is_array()))
        return Error{Errc::kInvalid, "no list \"operators\" in the answer"};
    return json;
}

std::vector<std::string> operator_ids(const Json& list)
{
    std::vector<std::string> ids;
    for (const Json& item : list["operators"]) {
        if (std::string id = text_at(item, "id"); !id.empty()) ids.push_back(std::move(id));
    }
    return ids;
}

/// The kinds of device that units are cut from: one of each that this host has.
std::map<std::string, const HostDevice*> device_kinds(const Host& host, const AgentTables& tables)
{
    std::map<std::string, const HostDevice*> kinds;
    for (const HostDevice& device : host.devices) {
        const bool is_cut = tables.unit_types.empty()
                                ? device.kind == "cuda"
                                : std::any_of(tables.unit_types.begin(), tables.unit_types.end(),
                                              [&](const UnitCut& cut) { return cut.resource_type == device.kind; });
        if (is_cut) kinds.emplace(device.kind, &device);
    }
    return kinds;
}

/// GPUs where units are cut from them, and what the center describes.
std::vector<HostDevice> find_devices(const AgentConfig& config, std::vector<std::string>& missing)
{
    std::vector<HostDevice> devices = described_devices(
        config.tables.devices,
        [](const std::string& path) {
            std::error_code ignored;
            return std::filesystem::exists(path, ignored);
        },
        missing);
    const std::vector<UnitCut>& cuts = config.tables.unit_types;
    const bool wants_gpus = cuts.empty() || std::any_of(cuts.begin(), cuts.end(),
                                                        [](const UnitCut& cut) { return cut.resource_type == "cuda"; });
    if (!wants_gpus) return devices; // asking would wake the driver
    Result<std::vector<HostDevice>> gpus = find_nvidia_gpus(kNvmlLibrary, missing);
    if (gpus)
        devices.insert(devices.end(), gpus->begin(), gpus->end());
    else
        missing.push_back(gpus.error().detail);
    return devices;
}

/// The processors that the config offers and the agent may use; all of the latter where it names none.
std::vector<std::int64_t> usable_cpus(const std::vector<std::int64_t>& offered, std::vector<std::string>& missing)
{
    const std::vector<std::int64_t> allowed = allowed_cpus();
    std::vector<std::int64_t> usable;
    for (const std::int64_t cpu : offered) {
        if (std::binary_search(allowed.begin(), allowed.end(), cpu))
            usable.push_back(cpu);
        else
            missing.push_back("cores names processor " + std::to_string(cpu) + ", which is not there any more");
    }
    return usable;
}

/// `[{"kind", "model", "count", "memory_bytes"}]`, for the center's facts.
Json device_list(const std::vector<HostDevice>& devices)
{
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> counts;
    for (const HostDevice& device : devices)
        ++counts[{device.kind, device.model, device.memory_bytes}];
    Json list = Json::array();
    for (const auto& [key, count] : counts) {
        const auto& [kind, model, memory_bytes] = key;
        list.push_back({{"kind", kind}, {"model", model}, {"count", count}});
        if (memory_bytes > 0) list.back()["memory_bytes"] = memory_bytes;
    }
    return list;
}

/// Its answer, if there is none, is on standard error, which is ours.
bool can_make_sandbox(const AgentConfig& config)
{
    const Result<std::string> answer =
        run_program({config.probe_program.string(), "--check-sandbox"}, config.tables.environment, kProbeListLimit);
    if (!answer)
        log_warning("uploads_not_accepted", {{"reason", answer.error().detail},
                                             {"effect", "uploaded operators do not run at this center"},
                                             {"see", "fathom-probe --check-sandbox"}});
    return answer.has_value();
}

} // namespace

ProbeAbilities ask_probe_program(const AgentConfig& config, const Host& host)
{
    ProbeAbilities abilities;
    const Result<Json> list = ask_for_list(config, "cpu", {});
    if (!list) {
        log_warning("probe_program_unusable",
                    {{"probe_program", config.probe_program.string()},
                     {"reason", describe(list.error())},
                     {"effect", "this center offers no operators and is not measured; set probe_program"}});
        return abilities;
    }
    abilities.operators = operator_ids(*list);
    abilities.blas_core_type = text_at(list->contains("host") ? (*list)["host"] : *list, "openblas_core");
    abilities.accepts_uploads = !config.operator_trust.keys.empty() && can_make_sandbox(config);

    for (const auto& [kind, device] : device_kinds(host, config.tables)) {
        std::map<std::string, std::string> environment;
        if (!device->variable.empty()) environment[device->variable] = device->value;
        const Result<Json> answer = ask_for_list(config, kind, environment);
        if (!answer) {
            log_warning("devices_not_measured", {{"kind", kind},
                                                 {"reason", describe(answer.error())},
                                                 {"effect", "units with these devices offer no operators"}});
            continue;
        }
        DeviceAbilities& found = abilities.devices[kind];
        found.operators = operator_ids(*answer);
        if (answer->contains("device") && (*answer)["device"].is_object()) found.facts = (*answer)["device"];
    }
    return abilities;
}

Hardware look_at_hardware(const AgentConfig& config)
{
    Hardware seen{.cpus = allowed_cpus(),
                  .memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE)};
    for (const HostDevice& device : find_devices(config, seen.missing))
        seen.devices.push_back(device.id);
    return seen;
}

bool has_changed(const Hardware& before, const Hardware& now)
{
    return before.cpus != now.cpus || before.devices != now.devices || before.missing != now.missing ||
           std::abs(before.memory_bytes - now.memory_bytes) > before.memory_bytes / 100;
}

Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts, CutRule rule)
{
    std::vector<std::string> differences;
    Result<Host> host = discover_host(rule == CutRule::kFitting ? usable_cpus(config.cpus, differences) : config.cpus);
    if (!host) return host.error();
    host->devices = find_devices(config, differences);
    const ProbeAbilities abilities = ask_probe_program(config, *host);
    for (const std::string& id : unknown_operators(config.tables, abilities)) {
        log_warning("operator_not_available", {{"operator", id}, {"probe_program", config.probe_program.string()}});
    }
    if (rule == CutRule::kMustFit) {
        if (const Result<UnitPlan> plan = cut_units(*host, config.tables, abilities); !plan) return plan.error();
    }
    CutUnits cut = cut_what_fits(*host, config.tables, abilities);
    for (const FieldError& shortfall : cut.shortfalls)
        differences.push_back(shortfall.field + ": " + shortfall.detail);
    for (const std::string& difference : differences)
        log_warning("hardware_differs", {{"difference", difference}});

    CenterOffer offer;
    for (const UnitType& type : cut.plan)
        offer.catalog.unit_types.push_back(type.report);
    offer.catalog.facts = host->machine;
    offer.catalog.facts.update(executor_facts);
    if (!host->devices.empty()) offer.catalog.facts["devices"] = device_list(host->devices);
    if (!differences.empty()) offer.catalog.facts["differences"] = differences;
    offer.plan = std::move(cut.plan);
    return offer;
}

} // namespace fathom::agent
