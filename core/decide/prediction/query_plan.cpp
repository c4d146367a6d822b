#include "core/decide/prediction/query_plan.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace fathom {
namespace {

constexpr double kBytesInGb = 1e9;

/// A number of the plan that is not negative; 0 when it is missing or anything else.
double number_at(const Json& json, const char* name)
{
    if (!json.is_object() || !json.contains(name) || !json[name].is_number()) return 0;
    const double value = json[name].get<double>();
    return std::isfinite(value) ? std::max(value, 0.0) : 0;
}

/// Walks through PostgreSQL's tree.
class PostgresReader {
  public:
    Result<std::vector<PlanOperator>> read(const Json& root)
    {
        add(root, 0);
        if (!error_.detail.empty()) return error_;
        return std::move(operators_);
    }

  private:
    struct Produced {
        double bytes{};
        double seconds{}; ///< with its children
    };

    /// By ANALYZE of all its loops together, else as estimated.
    static double rows_of(const Json& node, const char* estimated)
    {
        if (!node.contains("Actual Rows")) return number_at(node, estimated);
        return number_at(node, "Actual Rows") * std::max(number_at(node, "Actual Loops"), 1.0);
    }

    Produced add(const Json& node, std::size_t depth)
    {
        if (!error_.detail.empty()) return {};
        if (depth > kDeepestPlan || operators_.size() >= kMaxPlanOperators) {
            error_ = {Errc::kTooLarge, "the plan has more than 10000 operators, or nests deeper than 200"};
            return {};
        }
        if (!node.is_object() || !node.contains("Node Type") || !node["Node Type"].is_string()) {
            error_ = {Errc::kInvalid, "not a plan of EXPLAIN (FORMAT JSON): an operator has no \"Node Type\""};
            return {};
        }
        const std::size_t index = operators_.size();
        operators_.push_back({.name = node["Node Type"].get<std::string>(), .depth = depth});
        Produced children;
        bool has_children = false;
        if (node.contains("Plans") && node["Plans"].is_array()) {
            for (const Json& child : node["Plans"]) {
                const Produced produced = add(child, depth + 1);
                children.bytes += produced.bytes;
                children.seconds += produced.seconds;
                has_children = true;
            }
        }
        const double width = number_at(node, "Plan Width");
        const double loops = std::max(number_at(node, "Actual Loops"), 1.0);
        PlanOperator& own = operators_[index];
        own.operator_class = class_of_operator(own.name);
        own.output_bytes = rows_of(node, "Plan Rows") * width;
        const double removed = number_at(node, "Rows Removed by Filter") * loops * width;
        own.input_bytes = has_children ? children.bytes : own.output_bytes + removed;
        const double seconds = number_at(node, "Actual Total Time") * loops * 1e-3;
        if (node.contains("Actual Total Time")) own.measured_s = std::max(seconds - children.seconds, 0.0);
        return {own.output_bytes, seconds};
    }

    std::vector<PlanOperator> operators_;
    Error error_{Errc::kInvalid, ""};
};

/// Which step reads the results of another, by depths in the order in which a plan is written.
class StepReaders {
  public:
    /// The reader of the next step: the last one above it that is a step. Empty: there is none.
    std::optional<std::size_t> add(std::size_t depth)
    {
        skip(depth);
        const std::optional<std::size_t> reader = open_.empty() ? std::nullopt : std::optional(open_.back().index);
        open_.push_back({depth, count_++});
        return reader;
    }
    /// An operator that is no step: what stands below it is read by what it stands below itself.
    void skip(std::size_t depth)
    {
        while (!open_.empty() && open_.back().depth >= depth)
            open_.pop_back();
    }

  private:
    struct OpenStep {
        std::size_t depth{};
        std::size_t index{};
    };
    std::vector<OpenStep> open_; ///< the last step, what it stands below, and so on
    std::size_t count_{};
};

const char* device_name(bool is_gpu)
{
    return is_gpu ? "GPU" : "CPU";
}

} // namespace

OperatorClass class_of_operator(std::string_view name)
{
    std::string lower(name);
    for (char& c : lower)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool is_join = lower.find("join") != std::string::npos || lower.find("nested loop") != std::string::npos ||
                         lower.find("cartesianproduct") != std::string::npos;
    return is_join ? OperatorClass::kQuadratic : OperatorClass::kLinear;
}

Result<std::vector<PlanOperator>> read_postgres_plan(const Json& explain)
{
    const Json& first = explain.is_array() && !explain.empty() ? explain.front() : explain;
    if (!first.is_object() || !first.contains("Plan"))
        return Error{Errc::kInvalid, "not the answer of EXPLAIN (FORMAT JSON): there is no \"Plan\""};
    return PostgresReader().read(first["Plan"]);
}

std::optional<double> seconds_per_100mb(const PlanOperator& step, const PlanConditions& conditions)
{
    const bool is_linear = step.operator_class == OperatorClass::kLinear;
    if (const std::optional<double>& given = is_linear ? conditions.linear_t : conditions.quadratic_t) return given;
    if (!step.measured_s || !(step.input_bytes > 0)) return std::nullopt;
    const double gb = step.input_bytes / kBytesInGb;
    // S1 the other way round.
    const double t = is_linear ? *step.measured_s / (10 * gb) : std::sqrt(*step.measured_s / (100 * gb));
    return std::clamp(t, kMinT_s, kMaxT_s);
}

double seconds_to_pass(double bytes, const SpeedupQuestion& machine)
{
    const double gb = bytes / kBytesInGb;
    const double plain_s = gb / machine.network_gb;
    if (!machine.compression) return plain_s;
    // All machines compress and expand their parts at once.
    const double compressed_s = 2 * gb / machine.machines / machine.compression->speed_gb;
    return std::min(plain_s, compressed_s + machine.compression->fraction * plain_s);
}

Result<PlanAnswer> plan_devices(const std::vector<PlanOperator>& operators, const PlanConditions& conditions)
{
    PlanAnswer answer;
    StepReaders readers;
    std::vector<DeviceStep> steps;
    double threshold = 1;
    for (const PlanOperator& step : operators) {
        if (!(step.input_bytes > 0)) { // it computes nothing that sizes tell
            readers.skip(step.depth);
            continue;
        }
        const std::optional<double> t = seconds_per_100mb(step, conditions);
        if (!t)
            return Error{Errc::kInvalid,
                         "how long a CPU takes for \"" + step.name + "\" is not known: give it for the class " +
                             std::string(to_string(step.operator_class)) + ", or a plan that was run with timing"};
        const bool is_linear = step.operator_class == OperatorClass::kLinear;
        SpeedupQuestion question = is_linear ? conditions.linear : conditions.quadratic;
        question.operator_class = step.operator_class;
        question.seconds_per_100mb = *t;
        question.input_gb = step.input_bytes / kBytesInGb / question.machines;
        question.output_fraction = step.output_bytes / step.input_bytes;
        PlannedOperator planned{step, *t, predict_speedup(question)};
        answer.cpu_s += planned.answer.cpu_s;
        answer.gpu_s += planned.answer.gpu_s;
        answer.best_s += planned.answer.runs_on_gpu ? planned.answer.gpu_s : planned.answer.cpu_s;
        steps.push_back({planned.answer.cpu_s, planned.answer.gpu_s, seconds_to_pass(step.output_bytes, question),
                         readers.add(step.depth)});
        threshold = question.threshold;
        answer.operators.push_back(std::move(planned));
    }
    answer.split = split_steps(steps, threshold);
    answer.gain = answer.best_s > 0 ? answer.cpu_s / answer.best_s : 1;
    return answer;
}

Json to_json(const PlanAnswer& answer)
{
    Json operators = Json::array();
    for (std::size_t i = 0; i < answer.operators.size(); ++i) {
        const PlannedOperator& one = answer.operators[i];
        Json item = {{"name", one.step.name},
                     {"depth", one.step.depth},
                     {"class", to_string(one.step.operator_class)},
                     {"input_bytes", one.step.input_bytes},
                     {"output_bytes", one.step.output_bytes},
                     {"seconds_per_100mb", one.seconds_per_100mb}};
        item.update(to_json(one.answer));
        item["step_on"] = device_name(answer.split.steps[i].runs_on_gpu);
        item["passing_s"] = answer.split.steps[i].passing_s;
        operators.push_back(std::move(item));
    }
    return {{"operators", std::move(operators)},
            {"cpu_s", answer.cpu_s},
            {"gpu_s", answer.gpu_s},
            {"best_s", answer.best_s},
            {"gain", answer.gain},
            {"split",
             {{"run", answer.split.runs_as_steps ? "steps" : "whole"},
              {"whole_on", device_name(answer.split.whole_runs_on_gpu)},
              {"total_s", answer.split.total_s},
              {"passing_s", answer.split.passing_s}}}};
}

} // namespace fathom
