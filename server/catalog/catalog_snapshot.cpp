#include "server/catalog/catalog_snapshot.hpp"

#include "core/decide/probing/generate_task.hpp"

#include <algorithm>

namespace fathom::server {

const UnitTypeView* CatalogSnapshot::find_unit_type(std::string_view id) const
{
    const auto found =
        std::lower_bound(unit_types.begin(), unit_types.end(), id,
                         [](const UnitTypeView& view, std::string_view wanted) { return view.id.value < wanted; });
    return found == unit_types.end() || found->id.value != id ? nullptr : &*found;
}

const OperatorVersion* CatalogSnapshot::find_operator(std::string_view id, std::int64_t version) const
{
    const auto found = operators.find(id);
    if (found == operators.end()) return nullptr;
    if (version != 0) {
        const auto exact = found->second.find(version);
        return exact == found->second.end() ? nullptr : &exact->second;
    }
    for (auto newest = found->second.rbegin(); newest != found->second.rend(); ++newest) {
        if (!newest->second.is_withdrawn) return &newest->second;
    }
    return nullptr;
}

std::string CatalogSnapshot::operator_name(const OperatorManifest& manifest) const
{
    const OperatorVersion* const in_use = find_operator(manifest.id, 0);
    if (in_use == nullptr || in_use->manifest.version == manifest.version) return manifest.id;
    return manifest.id + "@" + std::to_string(manifest.version);
}

ManifestLookup CatalogSnapshot::manifests() const
{
    return [this](std::string_view id, std::int64_t version) -> const OperatorManifest* {
        const OperatorVersion* found = find_operator(id, version);
        return found == nullptr ? nullptr : &found->manifest;
    };
}

namespace {

/// Less is nearer; empty: nothing to go by.
std::optional<int> distance_of(const KnownJobType& type, RunOwner owner)
{
    if (!owner.owner.empty() && type.owner == owner.owner) return type.project == owner.project ? 0 : 1;
    if (type.project == owner.project) return 2;
    return std::nullopt;
}

/// Inputs that are outputs of earlier jobs, of which the size and a center that keeps a copy are known.
void add_outputs_of_jobs(const JobSpec& spec, RouteRequest& request)
{
    for (const JobInput& input : spec.inputs) {
        if (input.from.empty()) continue;
        const auto bytes = static_cast<double>(input.size_bytes.value_or(0));
        request.transfer.in_bytes += bytes;
        request.staged_in_bytes += bytes;
        for (const std::string& center : input.kept_at)
            request.kept_in_bytes[center] += bytes;
    }
}

} // namespace

const KnownJobType* CatalogSnapshot::find_own_job_type(std::string_view name, RunOwner owner) const
{
    const KnownJobType* const found = find_job_type(name, owner);
    return found != nullptr && distance_of(*found, owner) == 0 ? found : nullptr;
}

JobType CatalogSnapshot::type_of(const JobSpec& spec, std::string_view owner) const
{
    const RunOwner whose{owner, spec.project};
    std::vector<KnownMix> own;
    std::vector<KnownMix> of_project;
    for (const auto& [name, types] : job_types) {
        const KnownJobType* const known = find_job_type(name, whose);
        if (known != nullptr) (distance_of(*known, whose) < 2 ? own : of_project).push_back({name, known->mix});
    }
    JobType type = job_type_for(spec, own, manifests());
    const bool is_own =
        std::any_of(own.begin(), own.end(), [&](const KnownMix& known) { return known.name == type.name; });
    return is_own ? type : job_type_for(spec, of_project, manifests());
}

const KnownJobType* CatalogSnapshot::find_job_type(std::string_view name, RunOwner owner) const
{
    const auto found = job_types.find(name);
    if (found == job_types.end()) return nullptr;
    const KnownJobType* best = nullptr;
    for (const KnownJobType& type : found->second) {
        const std::optional<int> distance = distance_of(type, owner);
        if (distance && (best == nullptr || *distance < *distance_of(*best, owner))) best = &type;
    }
    return best;
}

std::int64_t CatalogSnapshot::least_wall_limit(std::int64_t wall_limit_s) const
{
    const auto above = std::lower_bound(wall_limits.begin(), wall_limits.end(), wall_limit_s);
    return above == wall_limits.begin() ? 0 : *std::prev(above) + 1;
}

RouteRequest make_route_terms(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now)
{
    RouteRequest request;
    request.project = spec.project;
    request.units = spec.units;
    request.wall_limit_s = catalog.least_wall_limit(spec.wall_limit_s);
    if (spec.operators.empty()) request.asked_s = asked_limit_s(spec);
    request.transfer = {.in_bytes = spec.data.in_bytes(),
                        .out_bytes = spec.data.out_bytes,
                        .network = spec.network,
                        .deadline = spec.deadline,
                        .now = now};
    add_outputs_of_jobs(spec, request);
    request.sites = spec.data.sites;
    request.compresses = spec.data.is_compressed;
    request.software = kinds_of(spec.software);
    request.prefer = spec.prefer;
    // The book may have changed its currency since the job was admitted: then only what is free is sure to be within
    // it.
    if (spec.budget) request.budget = spec.budget->currency == catalog.prices.currency() ? spec.budget->amount() : 0;
    return request;
}

Result<RouteRequest> make_route_request(const JobSpec& spec, const CatalogSnapshot& catalog, Timestamp now)
{
    RouteRequest request = make_route_terms(spec, catalog, now);
    request.job_type = spec.type;
    request.gpu_threshold = catalog.gpu_threshold;
    request.follows_gpu_threshold = true;
    apply_rules(find_rules(catalog.projects, spec.project), request);
    for (const OperatorUse& use : spec.operators) {
        const OperatorVersion* found = catalog.find_operator(use.id, use.version);
        if (found == nullptr) return Error{Errc::kInvalid, "operator " + use.id + " is not in the library"};
        const Result<double> operations = evaluate_formula(found->manifest.operation_count, use.parameters);
        const Result<double> bytes = evaluate_formula(found->manifest.byte_count, use.parameters);
        request.operators.push_back({.operator_id = catalog.operator_name(found->manifest),
                                     .parameters_key = parameters_key(use.parameters),
                                     .count = use.count,
                                     .operations = operations ? *operations : 0,
                                     .bytes = bytes ? *bytes : 0});
    }
    return request;
}

void set_origin(RouteRequest& request, JobOrigin origin, const CatalogSnapshot& catalog)
{
    request.job_type = std::move(origin.job_type);
    request.owner = std::move(origin.owner);
    request.takes_operators = origin.takes_operators;
    request.known_run = nullptr;
    if (!origin.takes_operators) return;
    const KnownJobType* const known = catalog.find_job_type(request.job_type, request.run_owner());
    if (known != nullptr) request.known_run = known->known_run;
}

Result<RouteRequest> make_metering_request(const JobSpec& spec, const CatalogSnapshot& catalog)
{
    if (spec.operators.empty()) return make_route_request(spec, catalog, {});
    JobSpec probed;
    probed.project = spec.project;
    probed.units = spec.units;
    probed.wall_limit_s = spec.wall_limit_s;
    probed.data.sites = spec.data.sites;
    probed.software = spec.software;
    probed.operators = generate_probe_tasks("", spec.operators, catalog.manifests()).front().operators;
    return make_route_request(probed, catalog, {});
}

} // namespace fathom::server
