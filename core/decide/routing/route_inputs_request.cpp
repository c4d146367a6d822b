#include "core/decide/routing/route_inputs_fields.hpp"

#include <limits>

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
    request.compresses = spec->data.is_compressed;
    request.software = kinds_of(spec->software);
    request.prefer = spec->prefer;
    request.transfer.network = spec->network;
    request.transfer.deadline = spec->deadline;
}

/// @param is_part  of a known run.
OperatorDemand read_demand(const Json& json, const std::string& path, bool is_part, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorDemand demand;
    if (is_part) {
        demand.share = reader.required_number("share", 0, 1);
        demand.is_serial = reader.optional_boolean("serial").value_or(false);
        demand.similarity = reader.required_number(reader.name_or_former("similarity", "likeness"), 0, 1);
        demand.remainder = text(reader, "remainder");
    }
    demand.operator_id = text(reader, "operator_id");
    demand.parameters_key = text(reader, "parameters_key");
    demand.count = reader.required_integer("count", 0, kMaxUnits);
    demand.operations = number(reader, "operations");
    demand.bytes = number(reader, "bytes");
    reader.finish(UnknownFields::kReject);
    return demand;
}

KnownRun read_known_run(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    KnownRun known;
    known.job_id = text(reader, "job_id");
    known.unit_type = text(reader, "unit_type");
    known.place = text(reader, "place");
    known.run_s = number(reader, "run_s");
    known.waiting_share = reader.required_number("waiting_share", 0, 1);
    known.parallelism = number(reader, "parallelism");
    known.cores = reader.required_integer("cores", 0, kMaxUnits);
    for_each_item(reader, "operators", kMaxNamedOperators, [&](const Json& item, const std::string& at) {
        known.operators.push_back(read_demand(item, at, true, errors));
    });
    for_each_item(reader, "measured", kMaxRows, [&](const Json& item, const std::string& at) {
        known.measured.push_back(read_measured(item, at, errors));
    });
    for_each_item(reader, "one_core", kMaxRows, [&](const Json& item, const std::string& at) {
        known.one_core.push_back(read_measured(item, at, errors));
    });
    reader.finish(UnknownFields::kReject);
    return known;
}

void read_quota(ObjectReader& request, RouteRequest& into, Errors& errors)
{
    if (const Json* json = request.object("quota")) {
        ObjectReader reader(*json, request.path_of("quota"), errors);
        into.quota.max_units = reader.required_integer(reader.name_or_former("max_units", "most_units"), 0, kMaxUnits);
        into.quota.max_score_hours = number(reader, reader.name_or_former("max_score_hours", "most_score_hours"));
        into.quota.max_cost = number(reader, reader.name_or_former("max_cost", "most_cost"));
        reader.finish(UnknownFields::kReject);
    }
    if (const Json* json = request.object("used")) {
        ObjectReader reader(*json, request.path_of("used"), errors);
        into.used.units = reader.required_integer("units", 0, kMaxUnits);
        into.used.score_hours = number(reader, "score_hours");
        into.used.cost = number(reader, "cost");
        reader.finish(UnknownFields::kReject);
    }
}

/// Older inputs have none.
void read_kept(ObjectReader& request, RouteRequest& into, Errors& errors)
{
    into.staged_in_bytes = request.optional_number("staged_in_bytes", 0, kMax).value_or(0);
    const Json* const json = request.object("kept_in_bytes");
    if (json == nullptr) return;
    if (json->size() > kMaxRows) {
        request.fail("kept_in_bytes", "names too many centers");
        return;
    }
    ObjectReader reader(*json, request.path_of("kept_in_bytes"), errors);
    for (const auto& [center, bytes] : json->items())
        into.kept_in_bytes[center] = number(reader, center);
}

ExpectedGpuShare read_gpu_share(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    ExpectedGpuShare expected;
    expected.share = reader.required_number("share", kMinLearnedGpuShare, 1);
    expected.spread = number(reader, "spread");
    expected.until_s = number(reader, "until_s");
    expected.neighbours = reader.required_integer("neighbours", 1, kMaxUnits);
    if (const std::optional<PairSource> basis = parse_pair_source(text(reader, "basis")))
        expected.basis = *basis;
    else
        reader.fail("basis", "is none that is known");
    reader.finish(UnknownFields::kReject);
    return expected;
}

/// Older inputs have none.
void read_gpu_shares(ObjectReader& request, RouteRequest& into, Errors& errors)
{
    const Json* const json = request.object("gpu_shares");
    if (json == nullptr) return;
    if (json->size() > kMaxRows) {
        request.fail("gpu_shares", "names too many unit types");
        return;
    }
    for (const auto& [unit_type, expected] : json->items())
        into.gpu_shares[unit_type] = read_gpu_share(expected, request.path_of("gpu_shares") + "." + unit_type, errors);
}

/// Older inputs have none.
GpuMemoryRequest read_learned_gpu_memory(ObjectReader& request, Errors& errors)
{
    const Json* const json = request.object("learned_gpu_memory");
    if (json == nullptr) return {};
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 42; // as in a job's request
    ObjectReader reader(*json, request.path_of("learned_gpu_memory"), errors);
    GpuMemoryRequest learned;
    learned.persistent_bytes = reader.required_integer("persistent_bytes", 0, kMaxBytes);
    learned.temporary_bytes = reader.required_integer("temporary_bytes", 0, kMaxBytes);
    reader.finish(UnknownFields::kReject);
    return learned;
}

} // namespace

MeasuredOperator read_measured(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    MeasuredOperator one;
    one.operator_id = text(reader, "operator_id");
    one.parameters_key = text(reader, "parameters_key");
    one.operations = number(reader, "operations");
    one.bytes = number(reader, "bytes");
    one.median_s = number(reader, "median_s");
    one.ci_low_s = number(reader, "ci_low_s");
    one.ci_high_s = number(reader, "ci_high_s");
    one.start_up_s = number(reader, "start_up_s");
    one.probe_run_id = text(reader, "probe_run_id");
    one.measured_at = time(reader, "measured_at");
    reader.finish(UnknownFields::kReject);
    return one;
}

std::optional<Compression> read_compression(ObjectReader& unit_type, Errors& errors)
{
    const Json* const json = unit_type.object("compression");
    if (json == nullptr) return std::nullopt;
    constexpr double kMin = std::numeric_limits<double>::denorm_min(); // a center may claim any
    ObjectReader reader(*json, unit_type.path_of("compression"), errors);
    Compression compression;
    compression.fraction = reader.required_number("fraction", kMin, 1);
    compression.speed_gb = reader.required_number("speed_gb", kMin, kMax);
    reader.finish(UnknownFields::kReject);
    return compression;
}

RouteRequest read_request(const Json& json, Errors& errors)
{
    ObjectReader reader(json, "request", errors);
    RouteRequest request;
    request.job_type = text(reader, "job_type");
    request.project = text(reader, "project");
    request.gpu_threshold = reader.required_number("gpu_threshold", 1, kMax);
    request.is_probe = reader.optional_boolean("is_probe").value_or(false);
    if (const Json* job = reader.object("job")) read_job(*job, reader.path_of("job"), request, errors);
    for_each_item(reader, "operators", kMaxNamedOperators, [&](const Json& item, const std::string& path) {
        request.operators.push_back(read_demand(item, path, false, errors));
    });
    request.takes_operators = reader.optional_boolean("takes_operators").value_or(false);
    if (const Json* known = reader.object("known_run"))
        request.known_run =
            std::make_shared<const KnownRun>(read_known_run(*known, reader.path_of("known_run"), errors));
    request.transfer.now = time(reader, "now");
    request.transfer.in_bytes = number(reader, "in_bytes");
    request.transfer.out_bytes = number(reader, "out_bytes");
    read_kept(reader, request, errors);
    read_gpu_shares(reader, request, errors);
    request.learned_gpu_memory = read_learned_gpu_memory(reader, errors);
    request.project_centers = reader.strings("project_centers", kMaxRows, {.max_length = 128});
    request.refused_by = reader.strings("refused_by", kMaxRows, {.max_length = 128});
    request.wall_limit_s = // older inputs knew none
        reader.optional_integer("wall_limit_s", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    request.asked_s = reader.optional_integer("asked_s", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    request.budget = reader.optional_number("budget", 0, kMax);
    read_quota(reader, request, errors);
    reader.finish(UnknownFields::kReject);
    return request;
}

} // namespace fathom::route_inputs
