#include "core/decide/prediction/spark_log.hpp"

#include "core/base/parse_number.hpp"
#include "core/decide/prediction/query_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

// Spark's event log: an event a line. Plans come with the start of an execution, and again whenever Spark adapts them;
// what flowed through their operators is in counters ("accumulators") that the ends of tasks bring.
namespace fathom {
namespace {

constexpr std::size_t kMaxLineBytes = 64UL << 20U;
constexpr std::size_t kMaxExecutions = 10'000;
constexpr std::size_t kMaxCounters = 1'000'000;

std::string text_at(const Json& json, const char* name)
{
    return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

std::optional<std::int64_t> integer_at(const Json& json, const char* name)
{
    if (!json.is_object() || !json.contains(name) || !json[name].is_number_integer()) return std::nullopt;
    return json[name].get<std::int64_t>();
}

/// Spark writes counters as numbers or as text.
double count_of(const Json& value)
{
    if (value.is_number()) return value.get<double>();
    return value.is_string() ? parse_number<double>(value.get_ref<const std::string&>()).value_or(0) : 0;
}

/// Computes nothing itself: it only shows how others are compiled or handed on.
bool is_wrapper(const std::string& name)
{
    static constexpr std::array kWrappers{
        "WholeStageCodegen", "InputAdapter",        "AdaptiveSparkPlan", "AQEShuffleRead", "CustomShuffleReader",
        "ShuffleQueryStage", "BroadcastQueryStage", "ResultQueryStage",  "ReusedExchange", "ColumnarToRow",
        "Subquery"};
    return std::any_of(kWrappers.begin(), kWrappers.end(),
                       [&](const char* wrapper) { return name.starts_with(wrapper); });
}

/// Walks through a plan.
class SparkReader {
  public:
    explicit SparkReader(const std::map<std::int64_t, double>& counters) : counters_(counters) {}

    Result<std::vector<PlanOperator>> read(const Json& root)
    {
        add(root, 0, 0);
        if (is_too_large_)
            return Error{Errc::kTooLarge, "the plan has more than 10000 operators, or nests deeper than 200"};
        return std::move(operators_);
    }

  private:
    struct Flow {
        double bytes{};
        double rows{};
    };

    /// Of all its tasks; empty when the operator has no such metric, or nothing came.
    std::optional<double> metric(const Json& node, std::string_view name) const
    {
        if (!node.contains("metrics") || !node["metrics"].is_array()) return std::nullopt;
        for (const Json& one : node["metrics"]) {
            if (text_at(one, "name") != name) continue;
            const auto found = counters_.find(integer_at(one, "accumulatorId").value_or(-1));
            if (found != counters_.end()) return found->second;
        }
        return std::nullopt;
    }

    Flow add(const Json& node, std::size_t depth, std::size_t level)
    {
        if (level > kDeepestPlan || operators_.size() >= kMaxPlanOperators) is_too_large_ = true;
        if (is_too_large_ || !node.is_object()) return {};
        const std::string name = text_at(node, "nodeName");
        const bool is_shown = !is_wrapper(name);
        const std::size_t index = operators_.size();
        if (is_shown) operators_.push_back({.name = name, .depth = depth, .operator_class = class_of_operator(name)});
        Flow input;
        if (node.contains("children") && node["children"].is_array()) {
            for (const Json& child : node["children"]) {
                const Flow flow = add(child, depth + (is_shown ? 1 : 0), level + 1);
                input.bytes += flow.bytes;
                input.rows += flow.rows;
            }
        }
        if (!is_shown || is_too_large_) return input;
        return note_flow(node, operators_[index], input);
    }

    /// What it hands on: its size where Spark counts it, else by its rows, as wide as those that came in.
    Flow note_flow(const Json& node, PlanOperator& own, Flow input) const
    {
        if (input.bytes == 0) input.bytes = metric(node, "size of files read").value_or(0);
        Flow output = input;
        if (const std::optional<double> rows = metric(node, "number of output rows")) {
            output.rows = *rows;
            if (input.rows > 0) output.bytes = input.bytes / input.rows * *rows;
        }
        if (const std::optional<double> bytes = metric(node, "data size")) output.bytes = *bytes;
        own.input_bytes = input.bytes;
        own.output_bytes = output.bytes;
        return output;
    }

    const std::map<std::int64_t, double>& counters_;
    std::vector<PlanOperator> operators_;
    bool is_too_large_ = false;
};

} // namespace

Result<void> SparkLog::add_line(std::string_view line)
{
    // Most lines are of other events and long: they are not read.
    const bool is_of_interest = line.find("SparkListenerTaskEnd") != std::string_view::npos ||
                                line.find("SparkListenerDriverAccumUpdates") != std::string_view::npos ||
                                line.find("SparkListenerSQL") != std::string_view::npos;
    if (!is_of_interest) return {};
    const Result<Json> event = parse_json(line, {.max_bytes = kMaxLineBytes, .max_depth = 1000});
    if (!event) return event.error();
    const std::string kind = text_at(*event, "Event");
    if (kind == "SparkListenerTaskEnd") add_tasks_counters(*event);
    if (kind.ends_with("SparkListenerDriverAccumUpdates") && event->contains("accumUpdates")) {
        for (const Json& update : (*event)["accumUpdates"]) { // [[id, value], …]
            if (update.is_array() && update.size() == 2 && update[0].is_number_integer() &&
                counters_.size() < kMaxCounters)
                counters_[update[0].get<std::int64_t>()] += count_of(update[1]);
        }
    }
    const bool has_plan =
        kind.ends_with("SparkListenerSQLExecutionStart") || kind.ends_with("SparkListenerSQLAdaptiveExecutionUpdate");
    const std::optional<std::int64_t> execution = integer_at(*event, "executionId");
    if (has_plan && execution && event->contains("sparkPlanInfo") && plans_.size() < kMaxExecutions)
        plans_[*execution] = (*event)["sparkPlanInfo"];
    return {};
}

void SparkLog::add_tasks_counters(const Json& event)
{
    if (!event.contains("Task Info") || !event["Task Info"].is_object()) return;
    const Json& info = event["Task Info"];
    if (!info.contains("Accumulables") || !info["Accumulables"].is_array()) return;
    for (const Json& one : info["Accumulables"]) {
        const std::optional<std::int64_t> id = integer_at(one, "ID");
        if (id && one.contains("Update") && (counters_.size() < kMaxCounters || counters_.contains(*id)))
            counters_[*id] += count_of(one["Update"]);
    }
}

Result<std::vector<PlanOperator>> SparkLog::plan(std::optional<std::int64_t> execution) const
{
    const auto found = execution ? plans_.find(*execution) : plans_.empty() ? plans_.end() : std::prev(plans_.end());
    if (found == plans_.end())
        return Error{Errc::kNotFound, execution ? "the event log has no plan of execution " + std::to_string(*execution)
                                                : "the event log has no plan of a query"};
    return SparkReader(counters_).read(found->second);
}

} // namespace fathom
