#include "server/probing/orders/run_order.hpp"

#include "core/model/job.hpp"
#include "core/model/probe_result.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxUnits = 1'000'000;
constexpr std::size_t kMaxCounts = 32;

RunSelection parse_selection(ObjectReader& reader)
{
    const std::string text =
        reader.optional_string("selection", {.one_of = {"catalog", "ask", "user", "center"}}).value_or("catalog");
    if (text == "ask") return RunSelection::kAsk;
    if (text == "user") return RunSelection::kUser;
    if (text == "center") return RunSelection::kCenter;
    return RunSelection::kCatalog;
}

std::vector<std::int64_t> parse_counts(ObjectReader& reader)
{
    if (!reader.has("unit_counts")) return {reader.optional_integer("unit_count", 1, kMaxUnits).value_or(1)};
    if (reader.has("unit_count")) reader.fail("unit_count", "give either unit_count or unit_counts");
    std::vector<std::int64_t> counts;
    if (const Json* items = reader.array("unit_counts", 1, kMaxCounts)) {
        for (const Json& item : *items) {
            const bool is_good =
                item.is_number_integer() && item.get<std::int64_t>() >= 1 && item.get<std::int64_t>() <= kMaxUnits;
            if (is_good)
                counts.push_back(item.get<std::int64_t>());
            else
                reader.fail("unit_counts", "must hold whole numbers from 1 to " + std::to_string(kMaxUnits));
        }
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts.empty() ? std::vector<std::int64_t>{1} : counts;
}

CountBy parse_count_by(ObjectReader& reader)
{
    const std::string text =
        reader.optional_string("count_by", {.one_of = {"order", "scaling", "center"}}).value_or("order");
    if (text != "order" && (reader.has("unit_count") || reader.has("unit_counts")))
        reader.fail("count_by", "\"" + text + "\" chooses the counts: leave out unit_count and unit_counts");
    if (text == "scaling") return CountBy::kScaling;
    if (text == "center") return CountBy::kCenter;
    return CountBy::kOrder;
}

/// Copies side by side: without a count as many as plan_copies() says.
void parse_mode(ObjectReader& reader, SelectionOrder& order)
{
    const std::string text = reader.optional_string("mode", {.one_of = {"strong", "throughput"}}).value_or("strong");
    if (text != "throughput") return;
    order.mode = ScalingMode::kThroughput;
    const bool has_counts = reader.has("unit_count") || reader.has("unit_counts");
    if (!has_counts && !reader.has("count_by")) order.count_by = CountBy::kScaling;
    if (order.count_by == CountBy::kCenter)
        reader.fail("count_by", "\"center\" is not for the mode \"throughput\": a center does not count copies");
    if (order.count_by != CountBy::kOrder) return;
    if (order.unit_counts.front() < 2 || order.unit_counts.back() > kMaxProbeCopies)
        reader.fail(reader.has("unit_counts") ? "unit_counts" : "unit_count",
                    "must be from 2 to " + std::to_string(kMaxProbeCopies) + " for the mode \"throughput\"");
}

SelectionOrder parse_places(ObjectReader& reader)
{
    SelectionOrder order;
    order.selection = parse_selection(reader);
    order.unit_types = reader.strings("unit_types", 1000, {.min_length = 1, .max_length = 256});
    order.centers = reader.strings("centers", 1000, {.min_length = 1, .max_length = 128});
    order.unit_counts = parse_counts(reader);
    order.count_by = parse_count_by(reader);
    parse_mode(reader, order);
    const bool is_picked = order.selection == RunSelection::kUser;
    if (is_picked && order.unit_types.empty()) reader.fail("unit_types", "is required when the selection is \"user\"");
    if (!is_picked && !order.unit_types.empty()) reader.fail("unit_types", "is only for the selection \"user\"");
    if (is_picked && !order.centers.empty()) reader.fail("centers", "is not for the selection \"user\"");
    if (reader.has("answer_wait_s") && order.selection != RunSelection::kAsk)
        reader.fail("answer_wait_s", "is only for the selection \"ask\"");
    order.answer_wait =
        std::chrono::seconds(reader.optional_integer("answer_wait_s", 1, 30).value_or(order.answer_wait.count()));
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
    order.job_type = reader.optional_string("job_type", {.min_length = 1, .max_length = kMaxJobTypeBytes}).value_or("");
    order.is_forced = reader.optional_boolean("force").value_or(false);
    const int named =
        (order.probe_task_id.empty() ? 0 : 1) + (order.job_type.empty() ? 0 : 1) + (order.operators.empty() ? 0 : 1);
    if (named > 1) reader.fail("operators", "give only one of probe_task_id, job_type and operators");
    if (order.is_forced && order.probe_task_id.empty()) reader.fail("force", "is only for a probe_task_id");
    order.places = parse_places(reader);
    if (order.places.selection == RunSelection::kAsk && order.is_full_benchmark())
        reader.fail("selection", "\"ask\" needs something to ask for: a probe_task_id, a job_type or operators");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the probe run");
}

} // namespace fathom::server
