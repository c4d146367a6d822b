#include "simulator/world/centers_file.hpp"

#include "core/model/money.hpp"
#include "simulator/world/job_type_rates.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace fathom::simulation {
namespace {

constexpr JsonLimits kLimits{.max_bytes = 64UL << 20U, .max_depth = 32};
constexpr std::size_t kMaxCenters = 10'000;
constexpr std::size_t kMaxUnitTypes = 10'000;
constexpr std::size_t kMaxClosures = 100'000;
constexpr std::size_t kFileHoursOfWeek = 168;
constexpr std::int64_t kMaxUnits = 1'000'000'000;
constexpr double kMaxSeconds = 1e10;
constexpr double kMaxHours = 1e8;
constexpr double kMaxBytesPerSecond = 1e18;
constexpr double kMaxPowerW = 1e7;
constexpr double kHour = 3600;
constexpr std::string_view kNetworkRate = "network_rate_bytes";
constexpr std::string_view kPriceEntry = "entries[0]"; ///< the only one, in errors of the price book's parser

constexpr std::array<KnowledgeField, 7> kKnowledgeFields{{
    {"measurement_noise", &KnowledgeSettings::measurement_noise, 0, 2},
    {"job_noise", &KnowledgeSettings::job_noise, 0, 5},
    {"run_noise", &KnowledgeSettings::run_noise, 0, 2},
    {"measure_every_s", &KnowledgeSettings::measure_every_s, 1, kMaxSeconds},
    {"drift_per_day", &KnowledgeSettings::drift_per_day, 0, 2},
    {"report_every_s", &KnowledgeSettings::report_every_s, 0, kMaxSeconds},
    {"learn_every_s", &KnowledgeSettings::learn_every_s, 1, kMaxSeconds},
}};

void read_knowledge(ObjectReader& document, KnowledgeSettings& knowledge, std::vector<FieldError>& errors)
{
    const Json* object = document.object("knowledge");
    if (object == nullptr) return;
    ObjectReader reader(*object, document.path_of("knowledge"), errors);
    for (const KnowledgeField& field : kKnowledgeFields)
        knowledge.*field.value =
            reader.optional_number(field.name, field.least, field.most).value_or(knowledge.*field.value);
    knowledge.learns = reader.optional_boolean("learns").value_or(knowledge.learns);
    knowledge.trusts_estimates = reader.optional_boolean("trusts_estimates").value_or(knowledge.trusts_estimates);
    knowledge.counts_gpu_pairs = reader.optional_boolean("counts_gpu_pairs").value_or(knowledge.counts_gpu_pairs);
    reader.finish(UnknownFields::kReject);
}

std::optional<Timestamp> read_begins(ObjectReader& document)
{
    const std::optional<Timestamp> begins = document.optional_time("begins");
    if (!begins) return begins;
    const auto day = std::chrono::floor<std::chrono::days>(*begins);
    if (day != *begins || std::chrono::weekday(day) != std::chrono::Monday)
        document.fail("begins", "must be a Monday, 00:00 UTC");
    return begins;
}

std::vector<Closure> read_maintenance(ObjectReader& center, std::vector<FieldError>& errors)
{
    std::vector<Closure> closures;
    const Json* list = center.array("maintenance", 0, kMaxClosures);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        ObjectReader reader((*list)[i], item_path(center.path_of("maintenance"), i), errors);
        const std::size_t before = errors.size();
        const Closure closure{.from_s = reader.required_number("from_s", -kMaxSeconds, kMaxSeconds),
                              .to_s = reader.required_number("to_s", -kMaxSeconds, kMaxSeconds)};
        if (errors.size() == before && closure.to_s <= closure.from_s) reader.fail("to_s", "must be after from_s");
        reader.finish(UnknownFields::kReject);
        closures.push_back(closure);
    }
    std::sort(closures.begin(), closures.end(), [](const Closure& a, const Closure& b) {
        return std::pair(a.from_s, a.to_s) < std::pair(b.from_s, b.to_s);
    });
    return closures;
}

/// One number, or one for each hour of the week.
std::array<double, kFileHoursOfWeek> read_network_rate(ObjectReader& center)
{
    std::array<double, kFileHoursOfWeek> rates{};
    const Json* value = center.any(kNetworkRate);
    if (value == nullptr) return rates;
    if (!value->is_array()) {
        rates.fill(center.required_number(kNetworkRate, 0, kMaxBytesPerSecond));
        return rates;
    }
    if (value->size() != kFileHoursOfWeek) {
        center.fail(kNetworkRate,
                    "must have 168 items, one for each hour of the week from Monday 00:00 UTC, or be one number");
        return rates;
    }
    for (std::size_t hour = 0; hour < kFileHoursOfWeek; ++hour) {
        const Json& rate = (*value)[hour];
        const double number = rate.is_number() ? rate.get<double>() : -1;
        if (number < 0 || number > kMaxBytesPerSecond)
            center.fail(item_path(std::string(kNetworkRate), hour), "must be a number between 0 and 1e18");
        rates.at(hour) = number;
    }
    return rates;
}

/// Checked by the parser of price books, so that a price is written there and here in one way.
UnitPrice read_price_entry(ObjectReader& unit_type, const std::string& currency, double unit_power_w,
                           std::vector<FieldError>& errors)
{
    PriceEntry entry;
    entry.center = "center";
    entry.unit_type = "unit type";
    entry.unit_power_w = unit_power_w;
    const Json* object = unit_type.object("price");
    if (object == nullptr) return UnitPrice(entry);
    const std::string path = unit_type.path_of("price");
    ObjectReader reader(*object, path, errors);
    const std::size_t before = errors.size();
    reader.any("per_unit_hour");
    reader.any("bands");
    reader.finish(UnknownFields::kReject);
    if (errors.size() > before) return {};
    Json item = *object;
    item["center"] = entry.center;
    item["unit_type"] = entry.unit_type;
    const auto book = parse_price_book({{"currency", currency}, {"entries", Json::array({item})}});
    if (book) {
        entry = book->entries.front();
        entry.unit_power_w = unit_power_w;
        return UnitPrice(entry);
    }
    const Error error = book.error();
    for (const FieldError& field : error.fields) {
        if (field.field.starts_with(kPriceEntry))
            errors.push_back({path + field.field.substr(kPriceEntry.size()), field.detail});
    }
    return {};
}

UnitFailures read_failures(ObjectReader& unit_type, std::vector<FieldError>& errors)
{
    UnitFailures failures;
    const Json* object = unit_type.object("failures");
    if (object == nullptr) return failures;
    ObjectReader reader(*object, unit_type.path_of("failures"), errors);
    failures.mean_between_s = kHour * reader.required_number("mean_between_h", 1e-3, kMaxHours);
    failures.mean_repair_s = kHour * reader.required_number("mean_repair_h", 0, kMaxHours);
    reader.finish(UnknownFields::kReject);
    return failures;
}

/// Reads centers one after another; what all of them share is in here.
class CentersReader {
  public:
    CentersReader(CentersFile& file, JobTypeNames& names, std::vector<FieldError>& errors)
        : file_(file), names_(names), errors_(errors)
    {
    }

    void read_all(ObjectReader& document)
    {
        const Json* list = document.array("centers", 1, kMaxCenters);
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
            read_center((*list)[i], item_path("centers", i));
        const auto rates = complete_rates(speeds_, names_);
        for (std::size_t u = 0; u < rates.size(); ++u) {
            file_.network.unit_types[u].rates = rates[u];
            file_.other_rates.push_back(speeds_[u].other_rate);
        }
    }

  private:
    void read_center(const Json& json, const std::string& path)
    {
        ObjectReader reader(json, path, errors_);
        Center center;
        center.name = reader.required_string("name", {.min_length = 1, .max_length = 128});
        if (!center.name.empty() && !center_names_.insert(center.name).second)
            reader.fail("name", "names \"" + center.name + "\" a second time");
        center.start_up_s = reader.optional_number("start_up_s", 0, kMaxSeconds).value_or(0);
        center.closures = read_maintenance(reader, errors_);
        center.network_rate_bytes = read_network_rate(reader);
        file_.network.centers.push_back(std::move(center));
        std::set<std::string> names;
        const Json* list = reader.array("unit_types", 1, kMaxUnitTypes);
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
            read_unit_type((*list)[i], item_path(reader.path_of("unit_types"), i), names);
        reader.finish(UnknownFields::kReject);
    }

    void read_unit_type(const Json& json, const std::string& path, std::set<std::string>& names)
    {
        ObjectReader reader(json, path, errors_);
        UnitType unit_type;
        unit_type.center = file_.network.centers.size() - 1;
        unit_type.name = reader.required_string("name", {.min_length = 1, .max_length = 128});
        if (!unit_type.name.empty() && !names.insert(unit_type.name).second)
            reader.fail("name", "names \"" + unit_type.name + "\" a second time at this center");
        unit_type.unit_count = reader.required_integer("unit_count", 1, kMaxUnits);
        unit_type.peak_flops = reader.optional_number("peak_flops", 0, 1e30).value_or(0);
        unit_type.benchmark = reader.optional_number("benchmark", 0, 1e30).value_or(0);
        const double power_w = reader.optional_number("unit_power_w", 0, kMaxPowerW).value_or(0);
        unit_type.idle_power_w = reader.optional_number("idle_power_w", 0, kMaxPowerW).value_or(0);
        unit_type.price = read_price_entry(reader, file_.network.currency, power_w, errors_);
        unit_type.failures = read_failures(reader, errors_);
        speeds_.push_back(read_speeds(reader, names_, errors_));
        if (!reader.has("rates") && !reader.has("operators"))
            reader.fail("rates", "is required, or operators: without either nothing can run there");
        reader.finish(UnknownFields::kReject);
        file_.network.unit_types.push_back(std::move(unit_type));
    }

    CentersFile& file_;
    JobTypeNames& names_;
    std::vector<FieldError>& errors_;
    std::vector<SpeedsOfUnitType> speeds_;
    std::set<std::string> center_names_;
};

} // namespace

std::span<const KnowledgeField> knowledge_fields()
{
    return kKnowledgeFields;
}

Result<CentersFile> parse_centers(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader document(json, "", errors);
    CentersFile file;
    if (document.has("currency")) file.network.currency = read_currency(document, "currency");
    file.begins = read_begins(document);
    JobTypeNames names;
    names.read_list(document, errors);
    CentersReader(file, names, errors).read_all(document);
    file.network.job_types = names.types();
    file.tells_scaling = names.tells_scaling();
    read_knowledge(document, file.knowledge, errors);
    document.finish(UnknownFields::kReject);
    return value_or_errors(std::move(file), std::move(errors), "the centers file");
}

Result<CentersFile> read_centers(std::string_view text)
{
    const Result<Json> json = parse_json(text, kLimits);
    if (!json) return json.error();
    return parse_centers(*json);
}

} // namespace fathom::simulation
