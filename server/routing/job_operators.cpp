#include "server/routing/job_operators.hpp"

namespace fathom::server {

void complete_operators(JobSpec& spec, const CatalogSnapshot& catalog, const std::string& prefix,
                        std::vector<FieldError>& errors)
{
    for (std::size_t i = 0; i < spec.operators.size(); ++i) {
        OperatorUse& use = spec.operators[i];
        const std::string path = prefix + "operators[" + std::to_string(i) + "]";
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

void check_deadline(const JobSpec& spec, Timestamp now, const std::string& prefix, std::vector<FieldError>& errors)
{
    if (spec.deadline && *spec.deadline <= now)
        errors.push_back({prefix + "deadline", "has passed: it is " + format_rfc3339(now) + " now"});
}

Result<void> check_feasible(const JobSpec& spec, const CatalogSnapshot& catalog)
{
    if (catalog.center_count == 0)
        return Error{Errc::kInfeasible, "no center is enrolled in the network, so no job can run"};
    if (catalog.shapes.empty())
        return Error{Errc::kInfeasible, "no enrolled center has reported any units yet, so no job can run"};
    // Only whether it fits is asked: no work, no measurements.
    RouteRequest request;
    request.units = spec.units;
    for (const OperatorUse& use : spec.operators)
        request.operators.push_back({.operator_id = use.id, .parameters_key = {}, .count = use.count});
    const Decision decision = route(request, catalog.shapes);
    if (decision.winner) return {};
    std::vector<FieldError> errors;
    errors.reserve(decision.candidates.size());
    for (const Candidate& candidate : decision.candidates)
        errors.push_back({candidate.center + "/" + candidate.unit_type, candidate.reason});
    return Error{Errc::kInfeasible, "no center can run this job", std::move(errors)};
}

std::string take_learned_operators(JobSpec& spec, const CatalogSnapshot& catalog)
{
    if (!spec.operators.empty()) return {};
    const KnownJobType* known = catalog.find_job_type(job_type_for(spec, {}, catalog.manifests()).name);
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
