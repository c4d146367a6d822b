#include "core/decide/route_inputs_fields.hpp"

namespace fathom::route_inputs {
namespace {

/// Units, sites, network, deadline and preference, read as those of a job.
void read_job(const Json& json, const std::string& path, RouteRequest& request, Errors& errors)
{
    Json job = json;
    job["command"] = {"-"};
    const Result<JobSpec> spec = parse_job_spec(job);
    if (!spec) {
        const Error error = spec.error();
        for (const FieldError& field : error.fields)
            errors.push_back({path + "." + field.field, field.detail});
        return;
    }
    request.units = spec->units;
    request.sites = spec->data.sites;
    request.prefer = spec->prefer;
    request.transfer.network = spec->network;
    request.transfer.deadline = spec->deadline;
}

OperatorDemand read_demand(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorDemand demand;
    demand.operator_id = text(reader, "operator_id");
    demand.parameters_key = text(reader, "parameters_key");
    demand.count = reader.required_integer("count", 0, kMostUnits);
    demand.operations = number(reader, "operations");
    demand.bytes = number(reader, "bytes");
    reader.finish(UnknownFields::kReject);
    return demand;
}

void read_quota(ObjectReader& request, RouteRequest& into, Errors& errors)
{
    if (const Json* json = request.object("quota")) {
        ObjectReader reader(*json, request.path_of("quota"), errors);
        into.quota.most_units = reader.required_integer("most_units", 0, kMostUnits);
        into.quota.most_score_hours = number(reader, "most_score_hours");
        into.quota.most_cost = number(reader, "most_cost");
        reader.finish(UnknownFields::kReject);
    }
    if (const Json* json = request.object("used")) {
        ObjectReader reader(*json, request.path_of("used"), errors);
        into.used.units = reader.required_integer("units", 0, kMostUnits);
        into.used.score_hours = number(reader, "score_hours");
        into.used.cost = number(reader, "cost");
        reader.finish(UnknownFields::kReject);
    }
}

} // namespace

RouteRequest read_request(const Json& json, Errors& errors)
{
    ObjectReader reader(json, "request", errors);
    RouteRequest request;
    request.job_type = text(reader, "job_type");
    request.project = text(reader, "project");
    request.gpu_threshold = reader.required_number("gpu_threshold", 1, kMost);
    request.is_probe = reader.optional_boolean("is_probe").value_or(false);
    if (const Json* job = reader.object("job")) read_job(*job, reader.path_of("job"), request, errors);
    for_each_item(reader, "operators", kMostOperators, [&](const Json& item, const std::string& path) {
        request.operators.push_back(read_demand(item, path, errors));
    });
    request.transfer.now = time(reader, "now");
    request.transfer.in_bytes = number(reader, "in_bytes");
    request.transfer.out_bytes = number(reader, "out_bytes");
    request.project_centers = reader.strings("project_centers", kMostRows, {.max_length = 128});
    request.budget = reader.optional_number("budget", 0, kMost);
    read_quota(reader, request, errors);
    reader.finish(UnknownFields::kReject);
    return request;
}

} // namespace fathom::route_inputs
