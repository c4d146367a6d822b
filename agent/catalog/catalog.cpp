#include "agent/catalog/catalog.hpp"

#include "agent/catalog/nvidia.hpp"
#include "agent/config/cpu_list.hpp"
#include "core/base/run_program.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kProbeListLimit{20};
/// Of the differences that facts and log have: facts must stay small, or the metascheduler refuses them.
constexpr std::size_t kMaxDifferencesInWords = 50;
constexpr std::size_t kMaxDetailBytes = 500;

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

/// A config whose devices are looked for as `wanted` needs, too.
AgentConfig with_wanted(AgentConfig config, const std::vector<UnitCut>& wanted)
{
    std::vector<UnitCut>& cuts = config.tables.unit_types;
    if (!cuts.empty() && config.remote_resources != RemoteRule::kOff)
        cuts.insert(cuts.end(), wanted.begin(), wanted.end());
    return config;
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

/// Items of the first list that the second one does not have.
template <class Item>
std::vector<Item> only_in(const std::vector<Item>& list, const std::vector<Item>& other)
{
    const std::set<Item> known(other.begin(), other.end());
    std::vector<Item> items;
    std::copy_if(list.begin(), list.end(), std::back_inserter(items),
                 [&](const Item& item) { return !known.contains(item); });
    return items;
}

/// The first of the names, and how many more there are.
std::string first_names(const std::vector<std::string>& names)
{
    constexpr std::size_t kMax = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMax); ++i)
        text += (text.empty() ? "" : ", ") + names[i];
    if (names.size() > kMax) text += " and " + std::to_string(names.size() - kMax) + " more";
    return text;
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

/// Puts the differences into the offer, and into its facts and the log in words.
void tell_differences(CenterOffer& offer, std::vector<ResourceDifference> differences)
{
    if (differences.size() > kMaxResourceDifferences) differences.resize(kMaxResourceDifferences);
    Json words = Json::array();
    for (ResourceDifference& difference : differences) {
        difference.detail = std::string(utf8_prefix(difference.detail, kMaxDetailBytes));
        if (words.size() == kMaxDifferencesInWords) continue;
        words.push_back(difference.detail);
        log_warning("hardware_differs", {{"code", difference.code}, {"difference", difference.detail}});
    }
    if (differences.size() > words.size())
        words.push_back("and " + std::to_string(differences.size() - words.size()) + " more");
    if (!differences.empty()) offer.catalog.facts["differences"] = std::move(words);
    offer.differences = std::move(differences);
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
           before.nodes != now.nodes || std::abs(before.memory_bytes - now.memory_bytes) > before.memory_bytes / 100;
}

std::string describe_hardware_change(const Hardware& before, const Hardware& now)
{
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    const std::vector<std::int64_t> gone = only_in(before.cpus, now.cpus);
    const std::vector<std::int64_t> come = only_in(now.cpus, before.cpus);
    if (!gone.empty()) add("processors " + format_cpu_list(gone) + " are gone");
    if (!come.empty()) add("processors " + format_cpu_list(come) + " have come");
    if (now.memory_bytes != before.memory_bytes)
        add("memory is " + std::to_string(now.memory_bytes) + " bytes, was " + std::to_string(before.memory_bytes));
    const auto compare = [&](const std::vector<std::string>& old_ones, const std::vector<std::string>& new_ones,
                             const std::string& what) {
        if (const std::string names = first_names(only_in(old_ones, new_ones)); !names.empty())
            add(what + " gone: " + names);
        if (const std::string names = first_names(only_in(new_ones, old_ones)); !names.empty())
            add(what + " come: " + names);
    };
    compare(before.devices, now.devices, "devices");
    compare(before.nodes, now.nodes, "nodes");
    if (before.missing != now.missing) add(now.missing.empty() ? "all devices answer" : now.missing.front());
    return text;
}

CenterOffer make_offer(ReconciledUnits units, Json facts, RemoteRule remote_resources)
{
    CenterOffer offer;
    for (const UnitType& type : units.plan)
        offer.catalog.unit_types.push_back(type.report);
    offer.catalog.facts = std::move(facts);
    offer.catalog.facts["remote_resources"] = to_string(remote_resources);
    tell_differences(offer, std::move(units.differences));
    offer.plan = std::move(units.plan);
    return offer;
}

Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order)
{
    std::vector<std::string> gone;
    const bool must_fit = order.rule == CutRule::kMustFit;
    Result<Host> host = discover_host(must_fit ? config.cpus : usable_cpus(config.cpus, gone));
    if (!host) return host.error();
    const AgentConfig looked_at = with_wanted(config, order.wanted);
    std::vector<std::string> silent;
    host->devices = find_devices(looked_at, silent);
    const ProbeAbilities abilities = ask_probe_program(looked_at, *host);
    for (const std::string& id : unknown_operators(config.tables, abilities)) {
        log_warning("operator_not_available", {{"operator", id}, {"probe_program", config.probe_program.string()}});
    }
    if (must_fit) {
        if (const Result<UnitPlan> plan = cut_units(*host, config.tables, abilities); !plan) return plan.error();
    }
    ReconciledUnits units = reconcile(*host, config.tables, order.wanted, config.remote_resources, abilities);
    std::vector<ResourceDifference> differences;
    for (std::string& detail : gone)
        differences.push_back({.code = "processor_missing", .detail = std::move(detail)});
    for (std::string& detail : silent)
        differences.push_back({.code = "device_missing", .detail = std::move(detail)});
    differences.insert(differences.end(), units.differences.begin(), units.differences.end());

    units.differences = std::move(differences);
    Json facts = host->machine;
    facts.update(executor_facts);
    if (!host->devices.empty()) facts["devices"] = device_list(host->devices);
    return make_offer(std::move(units), std::move(facts), config.remote_resources);
}

} // namespace fathom::agent
