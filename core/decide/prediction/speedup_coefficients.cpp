#include "core/decide/prediction/speedup_coefficients.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/prediction/device_choice.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr double kHundredMb = 1e8;

/// What one byte takes, and where that was measured.
struct ByteTime {
    double seconds{};
    const CenterUnitType* unit_type{};
    const MeasuredOperator* measured{};
};

std::optional<ByteTime> time_on(const CenterUnitType& unit_type, const std::string& operator_id)
{
    std::optional<ByteTime> nearest;
    double least = 0;
    for (const MeasuredOperator& one : unit_type.measured) {
        if (one.operator_id != operator_id || !(one.bytes > 0) || !(one.median_s > 0)) continue;
        const double distance = std::abs(portable::log(one.bytes / kHundredMb));
        if (nearest && distance >= least) continue;
        least = distance;
        nearest = ByteTime{one.median_s / one.bytes, &unit_type, &one};
    }
    return nearest;
}

enum class Device { kCpu, kGpu };

bool is_on(const CenterUnitType& unit_type, Device device)
{
    return is_device(unit_type.resource_type) == (device == Device::kGpu);
}

/// Of the unit types of one kind the fastest.
std::optional<ByteTime> best_time(const MeasuredCenter& center, Device device, const std::string& operator_id)
{
    std::optional<ByteTime> best;
    for (const CenterUnitType& unit_type : center.unit_types) {
        if (!is_on(unit_type, device)) continue;
        const std::optional<ByteTime> time = time_on(unit_type, operator_id);
        if (time && (!best || time->seconds < best->seconds)) best = time;
    }
    return best;
}

/// How the operator's time grows with its bytes.
struct Growth {
    double exponent{};
    std::size_t sizes{};
};

/// Empty where fewer than two sizes were measured.
std::optional<Growth> growth_on(const CenterUnitType& unit_type, const std::string& operator_id)
{
    std::vector<std::pair<double, double>> points; // ln of bytes and of seconds
    double mean_x = 0;
    double mean_y = 0;
    for (const MeasuredOperator& one : unit_type.measured) {
        if (one.operator_id != operator_id || !(one.bytes > 0) || !(one.median_s > 0)) continue;
        points.emplace_back(portable::log(one.bytes), portable::log(one.median_s));
        mean_x += points.back().first;
        mean_y += points.back().second;
    }
    const auto count = static_cast<double>(points.size());
    double squares = 0;
    double products = 0;
    for (const auto& [x, y] : points) {
        squares += (x - mean_x / count) * (x - mean_x / count);
        products += (x - mean_x / count) * (y - mean_y / count);
    }
    if (!(squares > 1e-9)) return std::nullopt;
    return Growth{products / squares, points.size()};
}

double seconds_a_byte(const MeasuredCompression& measured)
{
    return (measured.compression_s + measured.decompression_s) / (2 * measured.bytes);
}

struct PlacedCompression {
    const CenterUnitType* unit_type{};
    const MeasuredCompression* measured{};
};

const MeasuredCompression* nearest_compression(const CenterUnitType& unit_type)
{
    const auto distance = [](const MeasuredCompression& one) {
        return std::abs(portable::log(one.bytes / kHundredMb));
    };
    const auto nearest = std::min_element(
        unit_type.compressions.begin(), unit_type.compressions.end(),
        [&](const MeasuredCompression& a, const MeasuredCompression& b) { return distance(a) < distance(b); });
    return nearest == unit_type.compressions.end() ? nullptr : &*nearest;
}

/// Of the CPU unit types the fastest.
std::optional<PlacedCompression> best_compression(const MeasuredCenter& center)
{
    std::optional<PlacedCompression> best;
    for (const CenterUnitType& unit_type : center.unit_types) {
        const MeasuredCompression* const measured = nearest_compression(unit_type);
        if (measured == nullptr || !is_on(unit_type, Device::kCpu)) continue;
        if (!best || seconds_a_byte(*measured) < seconds_a_byte(*best->measured)) best = {&unit_type, measured};
    }
    return best;
}

Compression compression_of(const MeasuredCompression& measured)
{
    return {measured.fraction, 1 / seconds_a_byte(measured) / 1e9};
}

double hosts_gb_of(const MeasuredCenter& center)
{
    return center.between_hosts ? center.between_hosts->bytes_per_s / 1e9 : 0;
}

std::string place_text(const MeasuredCenter& center, const ByteTime& time)
{
    return time.measured->operator_id + " (" + time.measured->parameters_key + ") at " + center.name + "/" +
           time.unit_type->name;
}

class Finder {
  public:
    Finder(const Json& question, std::string operator_id, const MeasuredCenter& center)
        : question_(&question), operator_id_(std::move(operator_id)), center_(&center)
    {
    }

    std::vector<Coefficient> find()
    {
        const std::optional<ByteTime> on_cpu = best_time(*center_, Device::kCpu, operator_id_);
        find_cpu_time(on_cpu);
        if (question_->value("class", Json()) == Json(to_string(OperatorClass::kMeasured))) find_exponent(on_cpu);
        find_network();
        find_bus();
        find_fact("gpu_parallelism", Device::kGpu);
        find_core_ratio(on_cpu, best_time(*center_, Device::kGpu, operator_id_));
        if (question_->value("compressed", Json()) == Json(true)) find_compression();
        return std::move(found_);
    }

  private:
    bool is_given(const char* field) const { return question_->contains(field); }

    void add(const char* field, double value, const char* source, std::string basis)
    {
        found_.push_back({field, value, source, std::move(basis)});
    }
    void add_missing(const char* field, std::string why) { found_.push_back({field, {}, {}, std::move(why)}); }

    void find_cpu_time(const std::optional<ByteTime>& on_cpu)
    {
        constexpr const char* kField = "seconds_per_100mb";
        if (is_given(kField)) return;
        if (on_cpu)
            add(kField, on_cpu->seconds * kHundredMb, "measured",
                place_text(*center_, *on_cpu) + ", probe run " + on_cpu->measured->probe_run_id);
        else
            add_missing(kField, operator_id_ + " was not measured on a CPU unit type of " + center_->name);
    }

    void find_exponent(const std::optional<ByteTime>& on_cpu)
    {
        constexpr const char* kField = "exponent";
        if (is_given(kField)) return;
        const std::optional<Growth> growth = on_cpu ? growth_on(*on_cpu->unit_type, operator_id_) : std::nullopt;
        if (growth)
            add(kField, growth->exponent, "measured",
                operator_id_ + " at " + std::to_string(growth->sizes) + " sizes at " + center_->name + "/" +
                    on_cpu->unit_type->name);
        else
            add_missing(kField, operator_id_ + " was not measured at two sizes on a CPU unit type of " + center_->name);
    }

    void find_network()
    {
        constexpr const char* kField = "network_gb_s";
        if (is_given(kField)) return;
        const NodeRate rate = node_rate(hosts_gb_of(*center_), center_->network_bytes.value_or(0) / 1e9);
        if (const std::optional<NodeNetwork>& hosts = center_->between_hosts; hosts && rate.is_between_hosts)
            add(kField, rate.gb, "measured",
                hosts->operator_id + " between " + std::to_string(hosts->hosts) + " hosts of " + center_->name +
                    ", probe run " + hosts->probe_run_id);
        else if (rate.gb > 0)
            add(kField, rate.gb, "measured", "median of the timed transfers of " + center_->name);
        else
            add_missing(kField, "no transfer was timed at " + center_->name);
    }

    /// A number that a unit type of the kind reports.
    void find_fact(const char* field, Device device)
    {
        if (is_given(field)) return;
        for (const CenterUnitType& unit_type : center_->unit_types) {
            const Json fact = unit_type.facts.is_object() ? unit_type.facts.value(field, Json()) : Json();
            if (!is_on(unit_type, device) || !fact.is_number() || !(fact.get<double>() > 0)) continue;
            add(field, fact.get<double>(), "reported", "by " + center_->name + "/" + unit_type.name);
            return;
        }
        add_missing(field, center_->name + " does not report it");
    }

    void find_bus()
    {
        find_fact("bus_gb_s", Device::kGpu);
        if (found_.empty() || found_.back().field != "bus_gb_s" || found_.back().value) return;
        found_.back() = {"bus_gb_s", kUsualBusGb, "default", "PCIe 3.0 x16 class: " + found_.back().basis};
    }

    void find_core_ratio(const std::optional<ByteTime>& on_cpu, const std::optional<ByteTime>& on_gpu)
    {
        constexpr const char* kField = "core_ratio";
        if (is_given(kField) || !on_cpu || !on_gpu) return;     // r = 1 is as good
        const double ratio = on_cpu->seconds / on_gpu->seconds; // m·r
        const std::string basis = place_text(*center_, *on_cpu) + " against " + place_text(*center_, *on_gpu);
        const auto reported = std::find_if(found_.begin(), found_.end(),
                                           [](const Coefficient& one) { return one.field == "gpu_parallelism"; });
        if (reported != found_.end() && !reported->value) {
            *reported = {"gpu_parallelism", std::max(ratio, 1.0), "measured", "with core_ratio 1: " + basis};
            if (ratio < 1) add(kField, ratio, "measured", basis);
            return;
        }
        const Json given = question_->value("gpu_parallelism", Json());
        const double parallelism = reported != found_.end() ? *reported->value
                                   : given.is_number()      ? given.get<double>()
                                                            : 0;
        if (parallelism > 0) add(kField, ratio / parallelism, "measured", basis);
    }

    void find_compression()
    {
        const std::optional<PlacedCompression> best = best_compression(*center_);
        const auto find = [&](const char* field, const auto& value_of) {
            if (is_given(field)) return;
            if (best)
                add(field, value_of(compression_of(*best->measured)), "measured",
                    "compression and decompression (" + best->measured->parameters_key + ") at " + center_->name + "/" +
                        best->unit_type->name + ", probe run " + best->measured->probe_run_id);
            else
                add_missing(field,
                            "compression and decompression were not measured on a CPU unit type of " + center_->name);
        };
        find("compressed_fraction", [](const Compression& one) { return one.fraction; });
        find("compression_gb_s", [](const Compression& one) { return one.speed_gb; });
    }

    const Json* question_;
    std::string operator_id_;
    const MeasuredCenter* center_;
    std::vector<Coefficient> found_;
};

} // namespace

NodeTransfers node_transfers_of(const MeasuredCenter& center)
{
    NodeTransfers transfers;
    transfers.between_hosts_gb = hosts_gb_of(center);
    if (const std::optional<PlacedCompression> best = best_compression(center))
        transfers.compression = compression_of(*best->measured);
    return transfers;
}

std::string_view usual_operator(OperatorClass operator_class)
{
    return operator_class == OperatorClass::kLinear ? "stream_triad" : "sort";
}

std::vector<Coefficient> find_coefficients(const Json& question, OperatorClass operator_class,
                                           const std::string& operator_id, const MeasuredCenter& center)
{
    return Finder(question, operator_id.empty() ? std::string(usual_operator(operator_class)) : operator_id, center)
        .find();
}

Result<SpeedupQuestion> complete_question(Json question, const std::vector<Coefficient>& coefficients)
{
    question.erase("compressed");
    for (const Coefficient& one : coefficients) {
        if (one.value) question[one.field] = *one.value;
    }
    Result<SpeedupQuestion> parsed = parse_speedup_question(question);
    std::vector<FieldError> errors = parsed ? std::vector<FieldError>() : parsed.error().fields;
    for (FieldError& field : errors) {
        const auto missing = std::find_if(coefficients.begin(), coefficients.end(),
                                          [&](const Coefficient& one) { return one.field == field.field; });
        if (missing == coefficients.end()) continue;
        field.detail +=
            missing->value ? " (" + missing->source + ": " + missing->basis + ")" : ", for " + missing->basis;
    }
    // The model does without both, but not when the question asks for compression.
    for (const Coefficient& one : coefficients) {
        const bool is_of_compression = one.field == "compressed_fraction" || one.field == "compression_gb_s";
        const bool is_told = std::any_of(errors.begin(), errors.end(),
                                         [&](const FieldError& error) { return error.field == one.field; });
        if (is_of_compression && !one.value && !is_told) errors.push_back({one.field, one.basis});
    }
    return value_or_errors(parsed ? *parsed : SpeedupQuestion(), std::move(errors), "the question");
}

Json to_json(const std::vector<Coefficient>& coefficients)
{
    Json json = Json::object();
    for (const Coefficient& one : coefficients) {
        if (one.value) json[one.field] = {{"value", *one.value}, {"source", one.source}, {"basis", one.basis}};
    }
    return json;
}

} // namespace fathom
