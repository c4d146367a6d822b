#include "server/probing/run_order.hpp"

namespace fathom::server {
namespace {

SelectionOrder parse_places(ObjectReader& reader)
{
    SelectionOrder order;
    const std::string selection =
        reader.optional_string("selection", {.one_of = {"catalog", "user", "center"}}).value_or("catalog");
    if (selection == "user") order.selection = RunSelection::kUser;
    if (selection == "center") order.selection = RunSelection::kCenter;
    order.unit_types = reader.strings("unit_types", 1000, {.min_length = 1, .max_length = 256});
    order.centers = reader.strings("centers", 1000, {.min_length = 1, .max_length = 128});
    order.unit_count = reader.optional_integer("unit_count", 1, 1'000'000).value_or(1);
    if (selection == "user" && order.unit_types.empty())
        reader.fail("unit_types", "is required when the selection is \"user\"");
    if (selection != "user" && !order.unit_types.empty())
        reader.fail("unit_types", "is only for the selection \"user\"");
    if (selection == "user" && !order.centers.empty()) reader.fail("centers", "is not for the selection \"user\"");
    return order;
}

} // namespace

Result<RunOrder> parse_run_order(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    RunOrder order;
    order.probe_task_id = reader.optional_string("probe_task_id", {.min_length = 1, .max_length = 64}).value_or("");
    if (const Json* items = reader.array("operators", 0, 64)) {
        for (std::size_t i = 0; i < items->size(); ++i)
            order.operators.push_back(parse_operator_use((*items)[i], "operators[" + std::to_string(i) + "]", errors));
    }
    order.job_type = reader.optional_string("job_type", {.min_length = 1, .max_length = 200}).value_or("");
    order.is_forced = reader.optional_boolean("force").value_or(false);
    const int named =
        (order.probe_task_id.empty() ? 0 : 1) + (order.job_type.empty() ? 0 : 1) + (order.operators.empty() ? 0 : 1);
    if (named > 1) reader.fail("operators", "give only one of probe_task_id, job_type and operators");
    if (order.is_forced && order.probe_task_id.empty()) reader.fail("force", "is only for a probe_task_id");
    order.places = parse_places(reader);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the probe run");
}

} // namespace fathom::server
