#include "server/routing/batch/batch_requests.hpp"

#include <utility>

namespace fathom::server {

std::string key_of_operators(const std::vector<OperatorUse>& operators)
{
    std::string key;
    for (const OperatorUse& use : operators) {
        key += operator_key(use.id, use.parameters) + '@' + std::to_string(use.version) + '*' +
               std::to_string(use.count) + use.remainder + ' ' + use.label;
        for (const std::string& input : use.inputs)
            key += '<' + input;
        key += '\n';
    }
    return key;
}

BatchRequests::BatchRequests(CatalogPointer catalog, ColumnsOfCatalog& columns, Timestamp now)
    : catalog_(std::move(catalog)), now_(now)
{
    unmeasured_.emplace(columns.get(catalog_), now_);
}

void BatchRequests::set_catalog(CatalogPointer catalog, ColumnsOfCatalog& columns)
{
    catalog_ = std::move(catalog);
    unmeasured_.emplace(columns.get(catalog_), now_);
}

Result<const BatchRequests::KnownDemands*> BatchRequests::demands_of(const WaitingJob& job)
{
    const KnownDemands*& of_spec = demands_of_spec_[job.known];
    if (of_spec != nullptr) return of_spec;
    const auto [known, is_new] = known_demands_.try_emplace(key_of_operators(job.spec.operators));
    if (is_new) {
        Result<RouteRequest> own = make_route_request(job.spec, *catalog_, now_);
        Result<RouteRequest> probed = own ? make_metering_request(job.spec, *catalog_) : own.error();
        if (!probed) {
            known_demands_.erase(known);
            return probed.error();
        }
        known->second = {std::move(own->operators), std::move(probed->operators)};
    }
    of_spec = &known->second;
    return of_spec;
}

const std::string& BatchRequests::kind_of_spec(const std::shared_ptr<const KnownSpec>& spec)
{
    std::string& kind = spec_kinds_[spec];
    if (kind.empty()) kind = spec_kind_of(spec->spec, *catalog_);
    return kind;
}

Result<RouteRequest> BatchRequests::request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request = make_route_terms(job.spec, *catalog_, now_);
    request.operators = (*demands)->own;
    set_origin(request, {job.job_type, job.submitter, job.takes_operators}, *catalog_);
    request.is_probe = job.label == "probe";
    request.refused_by = job.refused_by;
    // A probe measures for the network, whatever project it is kept under.
    if (!request.is_probe) apply_rules(find_rules(catalog_->projects, job.spec.project), request);
    request.gpu_threshold = catalog_->gpu_threshold;
    request.follows_gpu_threshold = true;
    return request;
}

Result<RouteRequest> BatchRequests::metering_request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request = make_route_terms(job.spec, *catalog_, now_);
    request.operators = (*demands)->probed;
    request.refused_by = job.refused_by;
    if (job.label != "probe") apply_rules(find_rules(catalog_->projects, job.spec.project), request);
    return request;
}

std::vector<std::string> BatchRequests::names_of(const std::vector<std::size_t>& places) const
{
    std::vector<std::string> names;
    for (const std::size_t index : places) {
        const UnitTypeView& view = catalog_->unit_types[index];
        names.push_back(view.center_name + "/" + view.name);
    }
    return names;
}

} // namespace fathom::server
