#include "simulator/world/job_type_rates.hpp"

#include "simulator/world/centers_file.hpp"

#include <algorithm>
#include <limits>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxJobTypes = 10'000;
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxSpeedups = 1000;
constexpr std::int64_t kMaxRateUnits = 1'000'000'000;
constexpr double kMaxRate = 1e15;
constexpr double kMaxCount = 1e15;

Scaling scaling_of(const std::string& name)
{
    if (name == "linear") return Scaling::kLinear;
    return name == "table" ? Scaling::kTable : Scaling::kFixed;
}

/// Whether a member of an object may be called so: as a name that stands in a string.
bool is_name(const std::string& name)
{
    return !name.empty() && name.size() <= kMaxNameBytes && name.find('\0') == std::string::npos;
}

/// An object whose names are the file's own and whose values are numbers.
std::map<std::string, double> read_numbers(ObjectReader& reader, std::string_view field, double least, double most,
                                           std::vector<FieldError>& errors)
{
    std::map<std::string, double> numbers;
    const Json* object = reader.object(field);
    if (object == nullptr) return numbers;
    ObjectReader items(*object, reader.path_of(field), errors);
    for (const auto& [name, value] : object->items()) {
        if (!is_name(name)) items.fail(name, "must have a name of 1 to 256 bytes without NUL");
        numbers[name] = items.required_number(name, least, most);
    }
    return numbers;
}

std::vector<CountSpeedup> read_speedups(ObjectReader& rate, std::vector<FieldError>& errors)
{
    std::vector<CountSpeedup> speedups;
    const Json* points = rate.array("speedups", 0, kMaxSpeedups);
    for (std::size_t i = 0; points != nullptr && i < points->size(); ++i) {
        ObjectReader reader((*points)[i], item_path(rate.path_of("speedups"), i), errors);
        CountSpeedup point;
        point.unit_count = reader.required_integer("unit_count", 1, kMaxRateUnits);
        point.speedup = reader.required_number("speedup", 1e-9, 1e9);
        if (!speedups.empty() && point.unit_count <= speedups.back().unit_count)
            reader.fail("unit_count", "must be more than that of the point before it");
        reader.finish(UnknownFields::kReject);
        speedups.push_back(point);
    }
    return speedups;
}

/// A number, or `{"rate", "speedups"}`.
UnitTypeRate read_rate(ObjectReader& rates, const std::string& name, const Json& value, std::vector<FieldError>& errors)
{
    UnitTypeRate rate;
    if (!value.is_object()) {
        rate.rate = rates.required_number(name, 0, kMaxRate);
        return rate;
    }
    ObjectReader reader(value, rates.path_of(name), errors);
    rate.rate = reader.required_number("rate", 0, kMaxRate);
    rate.speedups = read_speedups(reader, errors);
    reader.finish(UnknownFields::kReject);
    return rate;
}

/// Seconds of executing all operators once so often as the type does; infinite where one has no speed.
double seconds_of(const JobTypeNames::OperatorCounts& counts, const std::map<std::string, double>& speeds)
{
    double seconds = 0;
    for (const auto& [name, count] : counts) {
        const auto speed = speeds.find(name);
        if (speed == speeds.end() || speed->second <= 0) return std::numeric_limits<double>::infinity();
        seconds += count / speed->second;
    }
    return seconds;
}

} // namespace

std::string item_path(const std::string& list, std::size_t index)
{
    return list + "[" + std::to_string(index) + "]";
}

void JobTypeNames::read_list(ObjectReader& document, std::vector<FieldError>& errors)
{
    const Json* list = document.array("job_types", 0, kMaxJobTypes);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        ObjectReader reader((*list)[i], item_path("job_types", i), errors);
        const std::string name = reader.required_string("name", {.min_length = 1, .max_length = kMaxNameBytes});
        const auto scaling = reader.optional_string("scaling", {.one_of = {"fixed", "linear", "table"}});
        OperatorCounts counts = read_numbers(reader, "operators", 1e-12, kMaxCount, errors);
        if (name == kEveryJobType) reader.fail("name", "must not be \"*\", which stands for types that are not named");
        reader.finish(UnknownFields::kReject);
        if (name.empty()) continue;
        if (index_.contains(name)) {
            reader.fail("name", "names \"" + name + "\" a second time");
            continue;
        }
        const std::size_t index = index_of(name);
        types_[index].scaling = scaling_of(scaling.value_or("fixed"));
        tells_scaling_[index] = scaling.has_value();
        operators_[index] = std::move(counts);
    }
}

std::size_t JobTypeNames::index_of(const std::string& name)
{
    const auto [found, is_new] = index_.try_emplace(name, types_.size());
    if (is_new) {
        types_.push_back({.name = name});
        operators_.emplace_back();
        tells_scaling_.push_back(false);
    }
    return found->second;
}

SpeedsOfUnitType read_speeds(ObjectReader& unit_type, JobTypeNames& names, std::vector<FieldError>& errors)
{
    SpeedsOfUnitType speeds;
    speeds.operators = read_numbers(unit_type, "operators", 0, kMaxRate, errors);
    const Json* object = unit_type.object("rates");
    if (object == nullptr) return speeds;
    ObjectReader rates(*object, unit_type.path_of("rates"), errors);
    for (const auto& [name, value] : object->items()) {
        const UnitTypeRate rate = read_rate(rates, name, value, errors);
        if (name == kEveryJobType) {
            speeds.other_rate = rate;
            continue;
        }
        if (!is_name(name)) {
            rates.fail(name, "must name a job type in 1 to 256 bytes without NUL");
            continue;
        }
        const std::size_t type = names.index_of(name);
        if (!rate.speedups.empty() && names.types()[type].scaling != Scaling::kTable)
            rates.fail(name, "has speedups, but job_types does not list it with scaling \"table\"");
        speeds.rates[type] = rate;
    }
    return speeds;
}

std::vector<std::vector<UnitTypeRate>> complete_rates(const std::vector<SpeedsOfUnitType>& speeds,
                                                      const JobTypeNames& names)
{
    std::vector<std::vector<UnitTypeRate>> rates(speeds.size());
    for (std::vector<UnitTypeRate>& of_unit_type : rates)
        of_unit_type.resize(names.types().size());
    for (std::size_t type = 0; type < names.types().size(); ++type) {
        const JobTypeNames::OperatorCounts& counts = names.operators(type);
        std::vector<double> seconds(speeds.size(), std::numeric_limits<double>::infinity());
        for (std::size_t u = 0; u < speeds.size() && !counts.empty(); ++u)
            seconds[u] = seconds_of(counts, speeds[u].operators);
        const double least = seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
        for (std::size_t u = 0; u < speeds.size(); ++u) {
            const auto given = speeds[u].rates.find(type);
            if (given != speeds[u].rates.end())
                rates[u][type] = given->second;
            else if (seconds[u] < std::numeric_limits<double>::infinity())
                rates[u][type].rate = least / seconds[u];
            else if (counts.empty())
                rates[u][type] = speeds[u].other_rate.value_or(UnitTypeRate{});
        }
    }
    return rates;
}

} // namespace fathom::simulation
