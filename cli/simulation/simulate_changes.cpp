#include "cli/simulation/simulate_changes.hpp"

#include "simulator/what_if/network_change.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::cli {
namespace {

constexpr std::size_t kShownPlaces = 12;
constexpr std::array<std::pair<std::string_view, double>, 5> kChangeTimeUnits{
    {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};

/// "LEFT=RIGHT", cut at the first "=".
struct Assignment {
    std::string left;
    std::string right;
};

Result<Assignment> parse_assignment(const char* flag, const std::string& text, const char* example)
{
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0 && equals + 1 < text.size())
        return Assignment{text.substr(0, equals), text.substr(equals + 1)};
    return Error{Errc::kInvalid, std::string(flag) + " \"" + text + "\" must be written like " + example};
}

/// A part of the document with the name that people call it by.
struct Place {
    std::string name; ///< "alpha", "alpha/core", "knowledge"
    Json* json;
};

std::vector<Place> places_of(Json& centers)
{
    std::vector<Place> places;
    for (Json& center : centers["centers"]) {
        const auto name = center["name"].get<std::string>();
        places.push_back({name, &center});
        for (Json& unit_type : center["unit_types"])
            places.push_back({name + "/" + unit_type["name"].get<std::string>(), &unit_type});
    }
    return places;
}

Error no_such_place(const char* flag, const std::string& text, const std::vector<Place>& places)
{
    std::string known;
    for (std::size_t i = 0; i < std::min(kShownPlaces, places.size()); ++i)
        known += (i == 0 ? "" : ", ") + places[i].name;
    if (places.size() > kShownPlaces) known += ", …";
    return Error{Errc::kInvalid,
                 std::string(flag) + " \"" + text + "\" names no center or unit type: there are " + known};
}

Result<double> parse_factor(const std::string& text)
{
    const Result<Json> number = parse_json(text);
    if (number && number->is_number() && number->get<double>() > 0) return number->get<double>();
    return Error{Errc::kInvalid, "--scale takes a positive number, not \"" + text + "\""};
}

Result<void> set_field(Json& centers, const std::string& text)
{
    const auto assignment = parse_assignment("--set", text, "beta/core.unit_count=128");
    if (!assignment) return assignment.error();
    std::vector<Place> places = places_of(centers);
    places.push_back({"knowledge", &centers["knowledge"]});
    const Place* found = nullptr;
    // Names may have dots in them: the longest one that fits is meant.
    for (const Place& place : places) {
        if (assignment->left.starts_with(place.name + ".") &&
            (found == nullptr || place.name.size() > found->name.size()))
            found = &place;
    }
    if (found == nullptr) return no_such_place("--set", text, places);
    const std::string path = assignment->left.substr(found->name.size() + 1);
    const std::size_t dot = path.find('.');
    Json& member = (*found->json)[path.substr(0, dot)];
    if (dot != std::string::npos && !member.is_null() && !member.is_object())
        return Error{Errc::kInvalid, "--set \"" + text + "\": " + path.substr(0, dot) + " has no fields"};
    Json& field = dot == std::string::npos ? member : member[path.substr(dot + 1)];
    // Amounts are exact decimals, which JSON has only as texts.
    const Result<Json> value = parse_json(assignment->right);
    const bool is_text = !value || path.ends_with("per_unit_hour");
    field = is_text ? Json(assignment->right) : *value;
    return {};
}

Result<void> scale_units(Json& centers, const std::string& text)
{
    const auto assignment = parse_assignment("--scale", text, "beta=2 or beta/core=0.5");
    if (!assignment) return assignment.error();
    const Result<double> factor = parse_factor(assignment->right);
    if (!factor) return factor.error();
    const auto scale = [&](Json& unit_type) { simulation::scale_unit_count(unit_type, *factor); };
    const std::vector<Place> places = places_of(centers);
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const Place& one) { return one.name == assignment->left; });
    if (place == places.end()) return no_such_place("--scale", text, places);
    if (!place->json->contains("unit_types"))
        scale(*place->json);
    else
        std::for_each((*place->json)["unit_types"].begin(), (*place->json)["unit_types"].end(), scale);
    return {};
}

/// "5400", "90m", "1.5h", "2d", or a time where the file says when its second 0 is.
Result<double> parse_moment(const std::string& text, const Json& centers)
{
    const std::size_t unit = text.find_first_not_of("0123456789.-");
    const std::string suffix = unit == std::string::npos ? "" : text.substr(unit);
    const auto found = std::find_if(kChangeTimeUnits.begin(), kChangeTimeUnits.end(),
                                    [&](const auto& one) { return one.first == suffix; });
    if (found != kChangeTimeUnits.end()) {
        const Result<Json> number = parse_json(text.substr(0, unit));
        if (number && number->is_number()) return number->get<double>() * found->second;
    }
    const Result<Timestamp> time = parse_rfc3339(text);
    if (!time)
        return Error{Errc::kInvalid,
                     "--close takes seconds, 90m, 1.5h, 2d or a time like 2026-12-01T09:00:00Z, not \"" + text + "\""};
    if (!centers.contains("begins"))
        return Error{Errc::kInvalid, "--close takes a time of the calendar only where the centers file says with "
                                     "\"begins\" which Monday its second 0 is"};
    const auto begins = parse_rfc3339(centers["begins"].get<std::string>()).value();
    return Seconds(*time - begins).count();
}

Result<void> close_center(Json& centers, const std::string& text)
{
    const auto assignment = parse_assignment("--close", text, "beta=0..9h");
    if (!assignment) return assignment.error();
    const std::size_t dots = assignment->right.find("..");
    if (dots == std::string::npos)
        return Error{Errc::kInvalid, "--close \"" + text + "\" must say from when to when: beta=0..9h"};
    const Result<double> from_s = parse_moment(assignment->right.substr(0, dots), centers);
    if (!from_s) return from_s.error();
    const Result<double> to_s = parse_moment(assignment->right.substr(dots + 2), centers);
    if (!to_s) return to_s.error();
    for (Json& center : centers["centers"]) {
        if (center["name"] != assignment->left) continue;
        center["maintenance"].push_back({{"from_s", *from_s}, {"to_s", *to_s}});
        return {};
    }
    return no_such_place("--close", text, places_of(centers));
}

void set_knowledge(Json& centers, const SimulateOptions& options)
{
    Json& knowledge = centers["knowledge"];
    if (knowledge.is_null()) knowledge = Json::object();
    const auto set = [&](const char* name, const std::optional<double>& value) {
        if (value) knowledge[name] = *value;
    };
    set("measurement_noise", options.measurement_noise);
    set("job_noise", options.job_noise);
    set("drift_per_day", options.drift_per_day);
    set("report_every_s", options.report_every_s);
}

Result<simulation::CentersFile> parse_changed(const Json& centers, const std::string& by)
{
    Result<simulation::CentersFile> file = simulation::parse_centers(centers);
    if (!file) return Error{Errc::kInvalid, "with " + by + ", " + file.error().detail, file.error().fields};
    return file;
}

/// One of the flags that may be repeated.
struct Change {
    const char* flag;
    const std::vector<std::string>* texts;
    Result<void> (*apply)(Json&, const std::string&);
};

} // namespace

Result<simulation::CentersFile> changed_centers(Json centers, const SimulateOptions& options)
{
    set_knowledge(centers, options);
    Result<simulation::CentersFile> file =
        parse_changed(centers, "--measurement-noise, --job-noise, --drift-per-day or --report-every");
    const std::array<Change, 3> changes{{{"--set", &options.sets, set_field},
                                         {"--scale", &options.scales, scale_units},
                                         {"--close", &options.closures, close_center}}};
    for (const Change& change : changes) {
        for (const std::string& text : *change.texts) {
            // The next change takes for granted that it is a centers file still.
            if (!file) return file;
            if (const Result<void> changed = change.apply(centers, text); !changed) return changed.error();
            file = parse_changed(centers, std::string(change.flag) + " \"" + text + "\"");
        }
    }
    return file;
}

} // namespace fathom::cli
