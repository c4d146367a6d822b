#include "core/decide/routing/route_inputs_request.hpp"

#include <algorithm>
#include <span>

namespace fathom::route_inputs {

Json measured_operator_json(const MeasuredOperator& one)
{
    return {{"operator_id", one.operator_id},   {"parameters_key", one.parameters_key},
            {"operations", one.operations},     {"bytes", one.bytes},
            {"median_s", one.median_s},         {"ci_low_s", one.ci_low_s},
            {"ci_high_s", one.ci_high_s},       {"start_up_s", one.start_up_s},
            {"probe_run_id", one.probe_run_id}, {"measured_at", format_rfc3339(one.measured_at)}};
}

bool is_wanted(const RouteRequest& request, const std::string& operator_id)
{
    const auto is_of = [&](const OperatorDemand& demand) { return demand.operator_id == operator_id; };
    const std::span<const OperatorDemand> parts = request.parts();
    return std::any_of(request.operators.begin(), request.operators.end(), is_of) ||
           std::any_of(parts.begin(), parts.end(), is_of);
}

Json wanted_json(const RouteRequest& request, const SharedList<MeasuredOperator>& measured)
{
    Json list = Json::array();
    for (const MeasuredOperator& one : measured) {
        if (is_wanted(request, one.operator_id)) list.push_back(measured_operator_json(one));
    }
    return list;
}

namespace {

Json demand_json(const OperatorDemand& one)
{
    return {{"operator_id", one.operator_id},
            {"parameters_key", one.parameters_key},
            {"count", one.count},
            {"operations", one.operations},
            {"bytes", one.bytes}};
}

Json known_run_json(const RouteRequest& request)
{
    const KnownRun& known = *request.known_run;
    Json operators = Json::array();
    for (const OperatorDemand& one : known.operators) {
        Json json = demand_json(one);
        json["share"] = one.share;
        json["serial"] = one.is_serial;
        json["similarity"] = one.similarity;
        json["remainder"] = one.remainder;
        operators.push_back(std::move(json));
    }
    return {{"job_id", known.job_id},
            {"unit_type", known.unit_type},
            {"place", known.place},
            {"run_s", known.run_s},
            {"waiting_share", known.waiting_share},
            {"parallelism", known.parallelism},
            {"cores", known.cores},
            {"operators", std::move(operators)},
            {"measured", wanted_json(request, known.measured)},
            {"one_core", wanted_json(request, known.one_core)}};
}

Json gpu_shares_json(const RouteRequest& request)
{
    Json json = Json::object();
    for (const auto& [unit_type, expected] : request.gpu_shares)
        json[unit_type] = {{"share", expected.share},
                           {"spread", expected.spread},
                           {"until_s", expected.until_s},
                           {"neighbours", expected.neighbours},
                           {"basis", to_string(expected.basis)}};
    return json;
}

/// What the job says of itself, written as jobs are.
Json said_json(const RouteRequest& request)
{
    JobSpec job;
    job.command = {"-"};
    job.units = request.units;
    job.data.sites = request.sites;
    job.data.is_compressed = request.compresses;
    if (request.software.modules) job.software.modules = {"any"};
    if (request.software.containers) job.software.image = "any";
    job.network = request.transfer.network;
    job.deadline = request.transfer.deadline;
    job.prefer = request.prefer;
    Json written = to_json(job);
    Json said = Json::object();
    for (const char* name : {"units", "data", "network", "deadline", "prefer", "modules", "container"}) {
        if (written.contains(name)) said[name] = std::move(written[name]);
    }
    return said;
}

} // namespace

Json request_json(const RouteRequest& request)
{
    Json operators = Json::array();
    for (const OperatorDemand& one : request.operators)
        operators.push_back(demand_json(one));
    Json json = {
        {"job_type", request.job_type},
        {"project", request.project},
        {"gpu_threshold", request.gpu_threshold},
        {"is_probe", request.is_probe},
        {"job", said_json(request)},
        {"operators", std::move(operators)},
        {"now", format_rfc3339(request.transfer.now)},
        {"wall_limit_s", request.wall_limit_s},
        {"in_bytes", request.transfer.in_bytes},
        {"out_bytes", request.transfer.out_bytes},
        {"project_centers", request.project_centers},
        {"quota",
         {{"max_units", request.quota.max_units},
          {"max_score_hours", request.quota.max_score_hours},
          {"max_cost", request.quota.max_cost}}},
        {"used",
         {{"units", request.used.units}, {"score_hours", request.used.score_hours}, {"cost", request.used.cost}}}};
    if (request.staged_in_bytes > 0) json["staged_in_bytes"] = request.staged_in_bytes;
    if (!request.kept_in_bytes.empty()) json["kept_in_bytes"] = request.kept_in_bytes;
    if (!request.gpu_shares.empty()) json["gpu_shares"] = gpu_shares_json(request);
    if (const GpuMemoryRequest& learned = request.learned_gpu_memory; learned.all_bytes() > 0)
        json["learned_gpu_memory"] = {{"persistent_bytes", learned.persistent_bytes},
                                      {"temporary_bytes", learned.temporary_bytes}};
    if (!request.refused_by.empty()) json["refused_by"] = request.refused_by;
    if (request.asked_s > 0) json["asked_s"] = request.asked_s;
    if (request.budget) json["budget"] = *request.budget;
    if (request.takes_operators) json["takes_operators"] = true;
    if (request.known_run) json["known_run"] = known_run_json(request);
    return json;
}

} // namespace fathom::route_inputs
