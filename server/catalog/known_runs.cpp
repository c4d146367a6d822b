#include "server/catalog/known_runs.hpp"

#include "core/base/log.hpp"

namespace fathom::server {
namespace {

constexpr double kLargest = 1e300;
constexpr double kMaxDuration_s = 1e9;

Json demand_json(const OperatorDemand& one)
{
    Json json = {{"id", one.operator_id}, {"parameters_key", one.parameters_key},
                 {"count", one.count},    {"operations", one.operations},
                 {"bytes", one.bytes},    {"share", one.share}};
    if (one.is_serial) json["serial"] = true;
    if (one.similarity < 1) json["similarity"] = one.similarity;
    if (!one.remainder.empty()) json["remainder"] = one.remainder;
    return json;
}

OperatorDemand read_demand(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorDemand demand;
    demand.operator_id = reader.required_string("id", {});
    demand.parameters_key = reader.required_string("parameters_key", {});
    demand.count = reader.required_integer("count", 1, 1'000'000'000'000);
    demand.operations = reader.required_number("operations", 0, kLargest);
    demand.bytes = reader.required_number("bytes", 0, kLargest);
    demand.share = reader.required_number("share", 0, 1);
    demand.is_serial = reader.optional_boolean("serial").value_or(false);
    demand.similarity = reader.optional_number(reader.name_or_former("similarity", "likeness"), 0, 1).value_or(1);
    demand.remainder = reader.optional_string("remainder", {}).value_or("");
    reader.finish(UnknownFields::kIgnore);
    return demand;
}

} // namespace

Json to_json(const KeptRun& run)
{
    Json operators = Json::array();
    for (const OperatorDemand& one : run.operators)
        operators.push_back(demand_json(one));
    return {{"unit_type_id", run.unit_type_id},
            {"run_s", run.run_s},
            {"waiting_share", run.waiting_share},
            {"parallelism", run.parallelism},
            {"operators", std::move(operators)}};
}

std::shared_ptr<const KnownRun> read_known_run(const Json& kept, const std::string& job, const CatalogSnapshot& catalog)
{
    std::vector<FieldError> errors;
    ObjectReader reader(kept, "", errors);
    auto known = std::make_shared<KnownRun>();
    known->job_id = job;
    known->unit_type = reader.required_string("unit_type_id", {});
    known->run_s = reader.required_number("run_s", 0, kMaxDuration_s);
    known->waiting_share = reader.required_number("waiting_share", 0, 1);
    known->parallelism = reader.required_number("parallelism", 0, kLargest);
    if (const Json* operators = reader.array("operators", 0, 64)) {
        for (std::size_t i = 0; i < operators->size(); ++i)
            known->operators.push_back(read_demand((*operators)[i], "operators[" + std::to_string(i) + "]", errors));
    }
    reader.finish(UnknownFields::kIgnore);
    if (!errors.empty() || !(known->run_s > 0)) {
        log_warning("known_run_unreadable", {{"job_id", job}});
        return nullptr;
    }
    const UnitTypeView* const view = catalog.find_unit_type(known->unit_type);
    if (view == nullptr) return nullptr;
    known->place = view->center_name + "/" + view->name;
    known->cores = view->cores_per_unit;
    known->measured = view->measured;
    known->one_core = view->one_core;
    return known;
}

} // namespace fathom::server
