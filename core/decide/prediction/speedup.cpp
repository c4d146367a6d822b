#include "core/decide/prediction/speedup.hpp"

#include "core/base/portable_math.hpp"

#include <cmath>

namespace fathom {
namespace {

constexpr double kLargest = 1e12;
constexpr double kSmallest = 1e-12;

/// S1: on one machine's CPU.
double calculation_s(const SpeedupQuestion& q)
{
    const double t = q.seconds_per_100mb;
    switch (q.operator_class) {
    case OperatorClass::kLinear:
        return 10 * t * q.input_gb;
    case OperatorClass::kQuadratic:
        return 100 * t * t * q.input_gb;
    case OperatorClass::kMeasured:
        return portable::pow(10 * t, q.exponent) * q.input_gb;
    }
    return 0;
}

/// S2: log_k(n).
double aggregation_levels(const SpeedupQuestion& q)
{
    return portable::log(q.machines) / portable::log(q.per_aggregation);
}

/// S2: A. From a thousand machines on, the closed form and the sum differ by less than a hundredth.
double aggregating_nodes(const SpeedupQuestion& q)
{
    constexpr double kManyMachines = 1000;
    if (q.machines >= kManyMachines) return q.machines * q.per_aggregation / (q.per_aggregation - 1);
    double nodes = q.machines;
    for (double level = q.machines; level > 1; nodes += level)
        level = std::ceil(level / q.per_aggregation);
    return nodes;
}

} // namespace

NodeRate node_rate(double between_hosts_gb, double data_site_gb)
{
    const bool is_between_hosts = between_hosts_gb > 0;
    return {is_between_hosts ? between_hosts_gb : data_site_gb, is_between_hosts};
}

std::optional<OperatorClass> parse_operator_class(std::string_view text)
{
    if (text == "linear") return OperatorClass::kLinear;
    if (text == "quadratic") return OperatorClass::kQuadratic;
    if (text == "measured") return OperatorClass::kMeasured;
    return std::nullopt;
}

std::string_view to_string(OperatorClass operator_class)
{
    switch (operator_class) {
    case OperatorClass::kLinear:
        return "linear";
    case OperatorClass::kQuadratic:
        return "quadratic";
    case OperatorClass::kMeasured:
        return "measured";
    }
    return "";
}

Result<SpeedupQuestion> parse_speedup_question(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    SpeedupQuestion q;
    const std::string name = reader.required_string("class", {.one_of = {"linear", "quadratic", "measured"}});
    q.operator_class = parse_operator_class(name).value_or(OperatorClass::kLinear);
    const bool is_measured = q.operator_class == OperatorClass::kMeasured;
    q.exponent = reader.optional_number("exponent", kMinExponent, kMaxExponent).value_or(q.exponent);
    if (is_measured && !reader.has("exponent")) reader.fail("exponent", "is required with the class measured");
    if (!is_measured && reader.has("exponent")) reader.fail("exponent", "belongs to the class measured");
    q.seconds_per_100mb = reader.required_number("seconds_per_100mb", kMinT_s, kMaxT_s);
    q.input_gb = reader.required_number("input_gb", kSmallest, kLargest);
    q.output_fraction = reader.optional_number("output_fraction", 0, kLargest).value_or(q.output_fraction);
    q.machines = static_cast<double>(reader.required_integer("machines", 1, 1'000'000'000));
    q.per_aggregation = static_cast<double>(reader.optional_integer("per_aggregation", 2, 1'000'000'000).value_or(10));
    q.network_gb = reader.required_number("network_gb_s", kSmallest, kLargest);
    q.bus_gb = reader.optional_number("bus_gb_s", kSmallest, kLargest).value_or(q.bus_gb);
    q.gpu_parallelism = reader.required_number("gpu_parallelism", 1, kLargest);
    q.core_ratio = reader.optional_number("core_ratio", kSmallest, kLargest).value_or(q.core_ratio);
    q.threshold = reader.optional_number("threshold", 1, kLargest).value_or(q.threshold);
    const std::optional<double> fraction = reader.optional_number("compressed_fraction", kSmallest, 1);
    const std::optional<double> speed = reader.optional_number("compression_gb_s", kSmallest, kLargest);
    if (reader.has("compressed_fraction") != reader.has("compression_gb_s"))
        reader.fail(reader.has("compressed_fraction") ? "compression_gb_s" : "compressed_fraction",
                    "compression needs both compressed_fraction and compression_gb_s");
    if (fraction && speed) q.compression = Compression{*fraction, *speed};
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(q), std::move(errors), "the question");
}

SpeedupAnswer predict_speedup(const SpeedupQuestion& q)
{
    const double one_gpu_s =
        (1 + q.output_fraction) * q.input_gb / q.bus_gb + calculation_s(q) / (q.gpu_parallelism * q.core_ratio); // S4
    return predict_speedup(q, {.cpu_s = calculation_s(q), .gpu_s = one_gpu_s});
}

SpeedupAnswer predict_speedup(const SpeedupQuestion& q, const MachineTimes& measured)
{
    const double passes = 1 + aggregation_levels(q);
    const double transfer_s = q.output_fraction * q.input_gb * aggregating_nodes(q) / q.network_gb;
    SpeedupAnswer answer;
    answer.cpu_s = measured.cpu_s * passes + transfer_s; // S3
    answer.gpu_s = measured.gpu_s * passes + transfer_s; // S5
    if (q.compression) {
        answer.gpu_s = (1 + q.output_fraction) * q.input_gb / q.compression->speed_gb + measured.gpu_s * passes +
                       q.compression->fraction * transfer_s;
    }
    answer.speedup = answer.cpu_s / answer.gpu_s;
    answer.runs_on_gpu = answer.speedup > q.threshold;
    return answer;
}

std::vector<SpeedupPoint> speedup_curve(SpeedupQuestion question, std::size_t count)
{
    FATHOM_ASSERT(count >= 2);
    std::vector<SpeedupPoint> points;
    for (std::size_t i = 0; i < count; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(count - 1);
        question.seconds_per_100mb = kMinT_s * portable::pow(kMaxT_s / kMinT_s, share);
        points.push_back({question.seconds_per_100mb, predict_speedup(question).speedup});
    }
    return points;
}

Json to_json(const SpeedupAnswer& answer)
{
    return {{"cpu_s", answer.cpu_s},
            {"gpu_s", answer.gpu_s},
            {"speedup", answer.speedup},
            {"run_on", answer.runs_on_gpu ? "GPU" : "CPU"}};
}

Json to_json(const std::vector<SpeedupPoint>& curve)
{
    Json points = Json::array();
    for (const SpeedupPoint& point : curve)
        points.push_back({{"seconds_per_100mb", point.seconds_per_100mb}, {"speedup", point.speedup}});
    return points;
}

} // namespace fathom
