#include "agent/catalog/catalog.hpp"

#include "agent/catalog/run_program.hpp"

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kProbeListLimit{20};

/// The value of a text field, or empty: the list is read leniently, since a runner may be newer.
std::string text_at(const Json& json, const char* name)
{
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

Result<ProbeAbilities> parse_abilities(const std::string& text)
{
    const Result<Json> json = parse_json(text);
    if (!json) return json.error();
    if (!json->is_object() || !json->contains("operators") || !(*json)["operators"].is_array())
        return Error{Errc::kInvalid, "no list \"operators\" in the answer"};
    ProbeAbilities abilities;
    for (const Json& item : (*json)["operators"]) {
        if (const std::string id = text_at(item, "id"); !id.empty()) abilities.operators.push_back(id);
    }
    const Json& facts = json->contains("host") ? (*json)["host"] : *json;
    abilities.blas_core_type = text_at(facts, "openblas_core");
    return abilities;
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

ProbeAbilities ask_probe_program(const AgentConfig& config)
{
    const Result<std::string> output = run_program({config.probe_program.string(), "--list", "--output", "json"},
                                                   config.tables.environment, kProbeListLimit);
    Result<ProbeAbilities> abilities = output ? parse_abilities(*output) : Result<ProbeAbilities>(output.error());
    if (abilities) {
        abilities->accepts_uploads = !config.operator_trust.keys.empty() && can_make_sandbox(config);
        return *abilities;
    }
    log_warning("probe_program_unusable",
                {{"probe_program", config.probe_program.string()},
                 {"reason", describe(abilities.error())},
                 {"effect", "this center offers no operators and is not measured; set probe_program"}});
    return {};
}

Result<CenterOffer> survey_center(const AgentConfig& config, const Json& executor_facts)
{
    const Result<Host> host = discover_host(config.cpus);
    if (!host) return host.error();
    const ProbeAbilities abilities = ask_probe_program(config);
    for (const std::string& id : unknown_operators(config.tables, abilities)) {
        log_warning("operator_not_available", {{"operator", id}, {"probe_program", config.probe_program.string()}});
    }
    Result<UnitPlan> plan = cut_units(*host, config.tables, abilities);
    if (!plan) return plan.error();

    CenterOffer offer;
    for (const UnitType& type : *plan)
        offer.catalog.unit_types.push_back(type.report);
    offer.catalog.facts = host->machine;
    offer.catalog.facts.update(executor_facts);
    offer.plan = std::move(*plan);
    return offer;
}

} // namespace fathom::agent
