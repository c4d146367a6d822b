#include "simulator/live/export_network.hpp"

#include "core/base/portable_math.hpp"
#include "core/model/price_book.hpp"
#include "simulator/world/centers_file_write.hpp"

#include <algorithm>
#include <array>

namespace fathom::simulation {
namespace {

constexpr std::size_t kHoursOfWeek = 168;
constexpr double kErrorToDeviation = 1.4826; ///< of a normal distribution: from the median error
constexpr double kMinJobs = 20;              ///< that say how far predictions are off

/// Null where the server has none.
Result<Json> read_prices(NetworkSource& source)
{
    const Result<Json> prices = source.get("/price-books/current", {});
    if (prices) return member(*prices, "document");
    if (prices.error().code == Errc::kNotFound) return Json();
    return prices.error();
}

template <class Keep>
Json filtered(const Json& items, const Keep& keep)
{
    Json kept = Json::array();
    for (const Json& item : items) {
        if (keep(item)) kept.push_back(item);
    }
    return kept;
}

/// Bytes per second by hour of the week; hours without samples as that hour of any day, else as it is now.
Json network_rates(const Json& window)
{
    const double now = number_of(member(window, "now"), "rate_bytes").value_or(0);
    std::array<double, kHoursOfWeek> rates{};
    rates.fill(now);
    for (const Json& hour : items_of(window, "hours_of_day")) {
        const auto of_day = static_cast<std::size_t>(number_of(hour, "hour_of_day").value_or(0));
        for (std::size_t i = of_day; i < kHoursOfWeek; i += 24)
            rates.at(i) = number_of(hour, "median_rate_bytes").value_or(now);
    }
    for (const Json& hour : items_of(window, "hours")) {
        const auto of_week = static_cast<std::size_t>(number_of(hour, "hour_of_week").value_or(0));
        if (of_week < kHoursOfWeek) rates.at(of_week) = number_of(hour, "median_rate_bytes").value_or(now);
    }
    return rates;
}

/// Builds the document center by center.
class DocumentBuilder {
  public:
    DocumentBuilder(const NetworkLists& lists, const std::map<std::string, ExportedType>& types, Timestamp begins,
                    std::vector<std::string>& notes)
        : lists_(lists), types_(types), begins_(begins), notes_(notes)
    {
        if (!lists.prices.is_null()) {
            if (const Result<PriceBook> book = parse_price_book(lists.prices)) book_ = *book;
        }
    }

    Json build()
    {
        Json document = {{"begins", format_rfc3339(begins_)},
                         {"job_types", job_types()},
                         {"knowledge", knowledge()},
                         {"centers", Json::array()}};
        if (!book_.currency.empty()) document["currency"] = book_.currency;
        std::map<std::string, Json> centers;
        for (const Json& unit_type : lists_.unit_types) {
            if (number_of(unit_type, "unit_count").value_or(0) < 1) continue;
            Json& center = centers[text_of(unit_type, "center")];
            center["unit_types"].push_back(unit_type_json(unit_type));
        }
        for (auto& [name, center] : centers) {
            center["name"] = name;
            add_maintenance(name, center);
            add_network(name, center);
            document["centers"].push_back(std::move(center));
        }
        return document;
    }

  private:
    Json job_types() const
    {
        Json list = Json::array();
        for (const auto& [name, type] : types_)
            list.push_back({{"name", name}, {"scaling", type.is_scaled() ? "table" : "fixed"}});
        return list;
    }

    /// How far predictions have been off is how far those of the simulated jobs shall be off.
    Json knowledge() const
    {
        KnowledgeSettings settings;
        const Json& run = member(lists_.calibration, "run");
        if (number_of(run, "job_count").value_or(0) >= kMinJobs) {
            const double error = number_of(run, "median_error").value_or(0);
            settings.job_noise = std::clamp(kErrorToDeviation * portable::log(1 + error), 0.0, 2.0);
        }
        return to_json(settings);
    }

    Json rates_of(const std::string& unit_type_id) const
    {
        Json rates = Json::object();
        for (const auto& [name, type] : types_) {
            const auto rate = type.rates.find(unit_type_id);
            if (rate == type.rates.end()) continue;
            rates[name] = rate->second;
            const auto table = type.speedups.find(unit_type_id);
            if (!type.is_scaled() || table == type.speedups.end()) continue;
            Json points = Json::array();
            for (const auto& [count, speedup] : table->second)
                points.push_back({{"unit_count", count}, {"speedup", speedup}});
            rates[name] = {{"rate", rate->second}, {"speedups", std::move(points)}};
        }
        return rates;
    }

    Json unit_type_json(const Json& unit_type) const
    {
        const std::string id = text_of(unit_type, "id");
        Json json = {{"name", text_of(unit_type, "name")},
                     {"unit_count", member(unit_type, "unit_count")},
                     {"rates", rates_of(id)}};
        if (json["rates"].empty())
            notes_.push_back("nothing is known to run at " + text_of(unit_type, "center") + "/" +
                             text_of(unit_type, "name"));
        if (const double flops = dgemm_flops(id); flops > 0) json["benchmark"] = flops;
        const PriceEntry* price = find_price(book_, text_of(unit_type, "center"), text_of(unit_type, "name"));
        if (price == nullptr) return json;
        PriceBook only;
        only.currency = book_.currency;
        only.entries = {*price};
        const Json entry = to_json(only)["entries"].front();
        if (entry.contains("per_score_hour"))
            notes_.push_back(text_of(unit_type, "center") + "/" + text_of(unit_type, "name") +
                             " is paid for by score-hours, which the file does not know: that part is left out");
        json["price"] = {{"per_unit_hour", entry.value("per_unit_hour", "0")}};
        if (entry.contains("bands")) json["price"]["bands"] = entry["bands"];
        if (entry.contains("unit_power_w")) json["unit_power_w"] = entry["unit_power_w"];
        return json;
    }

    /// The fastest measured dgemm on one unit: the benchmark that every center has run.
    double dgemm_flops(const std::string& unit_type_id) const
    {
        double flops = 0;
        for (const Json& score : lists_.scores) {
            if (text_of(score, "unit_type_id") == unit_type_id && number_of(score, "unit_count") == 1)
                flops = std::max(flops, number_of(score, "rate_flops").value_or(0));
        }
        return flops;
    }

    void add_maintenance(const std::string& name, Json& center) const
    {
        for (const Json& item : lists_.maintenance) {
            const std::optional<Timestamp> from = time_of(item, "starts_at");
            const std::optional<Timestamp> to = time_of(item, "ends_at");
            if (text_of(item, "center") != name || !from || !to || *to <= begins_) continue;
            if (!member(item, "unit_type").is_null() && center["unit_types"].size() > 1) {
                notes_.push_back("maintenance of only " + name + "/" + text_of(item, "unit_type") + " is left out");
                continue;
            }
            center["maintenance"].push_back(
                {{"from_s", Seconds(*from - begins_).count()}, {"to_s", Seconds(*to - begins_).count()}});
        }
    }

    /// Of its unit types the one whose network was measured most.
    void add_network(const std::string& name, Json& center) const
    {
        const Json* most = nullptr;
        for (const Json& window : lists_.windows) {
            const double samples = number_of(window, "sample_count").value_or(0);
            if (text_of(window, "center") != name || samples < 1 || number_of(window, "hour_s") != 3600) continue;
            if (most == nullptr || samples > number_of(*most, "sample_count").value_or(0)) most = &window;
        }
        if (most != nullptr) center["network_rate_bytes"] = network_rates(*most);
    }

    const NetworkLists& lists_;
    const std::map<std::string, ExportedType>& types_;
    Timestamp begins_;
    std::vector<std::string>& notes_;
    PriceBook book_;
};

} // namespace

Result<NetworkLists> read_network(NetworkSource& source)
{
    NetworkLists lists;
    const auto read = [](Json& target, Result<Json> answer) -> Result<void> {
        if (!answer) return answer.error();
        target = std::move(*answer);
        return {};
    };
    if (const auto done = read(lists.unit_types, list_items(source, "/unit-types", {})); !done) return done.error();
    if (const auto done = read(lists.prices, read_prices(source)); !done) return done.error();
    if (const auto done = read(lists.maintenance, list_items(source, "/maintenance-windows", {})); !done)
        return done.error();
    if (const auto done = read(lists.windows, list_items(source, "/network-windows", {})); !done) return done.error();
    const NetworkSource::Query of_dgemm{{"operator", "dgemm"}};
    if (const auto done = read(lists.scores, list_items(source, "/scores", of_dgemm)); !done) return done.error();
    if (const auto done = read(lists.calibration, source.get("/predictions:calibration", {})); !done)
        return done.error();
    lists.unit_types = filtered(lists.unit_types, [](const Json& item) { return is_true(item, "active"); });
    lists.maintenance =
        filtered(lists.maintenance, [](const Json& item) { return text_of(item, "state") != "cancelled"; });
    return lists;
}

Json centers_document(const NetworkLists& lists, const std::map<std::string, ExportedType>& types, Timestamp begins,
                      std::vector<std::string>& notes)
{
    return DocumentBuilder(lists, types, begins, notes).build();
}

} // namespace fathom::simulation
