#include "server/catalog/job_operators.hpp"

#include "core/decide/explanation/refusal.hpp"

namespace fathom::server {
namespace {

/// Unit types whose obstacles are listed after the constraint that none keeps.
constexpr std::size_t kMaxObstacles = 16;

} // namespace

void complete_operators(JobSpec& spec, const CatalogSnapshot& catalog, const std::string& prefix,
                        std::vector<FieldError>& errors)
{
    for (std::size_t i = 0; i < spec.operators.size(); ++i) {
        OperatorUse& use = spec.operators[i];
        const std::string path = prefix + path_of_operator(spec, i);
        const OperatorVersion* found = catalog.find_operator(use.id, use.version);
        if (found == nullptr) {
            const bool is_known = use.version != 0 && catalog.find_operator(use.id, 0) != nullptr;
            errors.push_back(
                {path + (is_known ? ".version" : ".id"),
                 is_known ? "operator " + use.id + " has no such version" : "the library has no operator " + use.id});
            continue;
        }
        if (found->is_withdrawn) {
            errors.push_back({path + ".version", "this version of operator " + use.id + " is withdrawn"});
            continue;
        }
        const std::size_t before = errors.size();
        Parameters completed = complete_parameters(found->manifest, use.parameters, path + ".parameters", errors);
        // What was wrong must still be there when the job is checked again with a newer catalog.
        if (errors.size() > before) continue;
        use.version = found->manifest.version;
        use.parameters = std::move(completed);
    }
}

void check_terms(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now, const std::string& prefix,
                 std::vector<FieldError>& errors)
{
    if (spec.deadline && *spec.deadline <= now)
        errors.push_back({prefix + "deadline", "has passed: it is " + format_rfc3339(now) + " now"});
    if (!spec.budget) return;
    const std::string currency = catalog.prices.currency();
    if (currency.empty())
        errors.push_back({prefix + "budget", "nothing in this network has a price, so no budget can be kept: leave it "
                                             "out, or ask an administrator for a price book"});
    else if (spec.budget->currency != currency)
        errors.push_back({prefix + "budget.currency", "prices are in " + currency + ", so the budget must be, too"});
}

Result<void> check_feasible(const JobSpec& spec, const CatalogSnapshot& catalog, std::vector<std::string> refused_by)
{
    if (catalog.center_count == 0)
        return Error{Errc::kInfeasible, "no center is enrolled in the network, so no job can run"};
    if (catalog.unit_types.empty())
        return Error{Errc::kInfeasible, "no enrolled center has reported any units yet, so no job can run"};
    RouteRequest request = make_route_terms(spec, catalog, {});
    request.wall_limit_s = spec.wall_limit_s; // itself: people are told
    const ProjectRules& rules = find_rules(catalog.projects, spec.project);
    apply_rules(rules, request);
    request.refused_by = std::move(refused_by);
    // Only whether it fits is asked: no work, no measurements.
    for (const OperatorUse& use : spec.operators)
        request.operators.push_back({.operator_id = use.id, .parameters_key = {}, .count = use.count});
    std::vector<FieldError> errors = find_unknown_names(request, catalog.unit_types);
    if (!errors.empty())
        return Error{Errc::kInfeasible, "the job names what the network does not have", std::move(errors)};
    const std::int64_t least = spec.units.count.value_or(spec.units.min);
    if (rules.quota.max_units > 0 && least > rules.quota.max_units)
        return Error{Errc::kInfeasible,
                     "the job asks for more than its project may have",
                     {{spec.units.count ? "units.count" : "units.min",
                       "project " + spec.project + " may hold " + std::to_string(rules.quota.max_units) +
                           " units at once, the job takes at least " + std::to_string(least)}}};
    const std::optional<FieldError> unkept = find_unkept_constraint(request, catalog.unit_types);
    if (!unkept) return {};
    errors.push_back(*unkept);
    for (FieldError& obstacle : list_obstacles(request, catalog.unit_types, kMaxObstacles))
        errors.push_back(std::move(obstacle));
    return Error{Errc::kInfeasible, "no center can run this job", std::move(errors)};
}

std::string take_learned_operators(JobSpec& spec, std::string_view owner, const CatalogSnapshot& catalog)
{
    if (!spec.operators.empty()) return {};
    const KnownJobType* known =
        catalog.find_job_type(job_type_for(spec, {}, catalog.manifests()).name, {owner, spec.project});
    if (known == nullptr || known->operators.empty()) return {};
    std::vector<FieldError> errors;
    spec.operators = known->operators;
    for (OperatorUse& use : spec.operators)
        use.version = 0; // what was learned of an old version holds for the newest
    complete_operators(spec, catalog, "", errors);
    if (errors.empty() && check_feasible(spec, catalog)) return known->learned_from;
    spec.operators.clear();
    return {};
}

} // namespace fathom::server
