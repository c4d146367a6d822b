#include "simulator/what_if/network_change.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxChanges = 50;
constexpr std::size_t kMaxListedNames = 12; ///< that an error lists
constexpr double kMinFactor = 1e-3;
constexpr double kMaxFactor = 1000;
const ObjectReader::StringRule kChangedName{.min_length = 1, .max_length = 128};

NetworkChange parse_change(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    using Kind = NetworkChange::Kind;
    ObjectReader reader(json, path, errors);
    const std::string kind =
        reader.required_string("kind", {.one_of = {"scale_units", "set_units", "add_center", "remove_center"}});
    NetworkChange change;
    change.center = reader.required_string("center", kChangedName);
    if (kind == "scale_units") {
        change.unit_type = reader.optional_string("unit_type", kChangedName).value_or("");
        change.factor = reader.required_number("factor", kMinFactor, kMaxFactor);
    } else if (kind == "set_units") {
        change.kind = Kind::kSetUnits;
        change.unit_type = reader.required_string("unit_type", kChangedName);
        change.unit_count = reader.required_integer("unit_count", 1, kMaxChangedUnits);
    } else if (kind == "add_center") {
        change.kind = Kind::kAddCenter;
        change.like = reader.required_string("like", kChangedName);
    } else {
        change.kind = Kind::kRemoveCenter;
    }
    reader.finish(UnknownFields::kReject);
    return change;
}

/// "alpha, beta, …"
std::string names_in(const Json& list)
{
    std::string names;
    for (std::size_t i = 0; i < std::min(kMaxListedNames, list.size()); ++i)
        names += (i == 0 ? "" : ", ") + list[i]["name"].get<std::string>();
    return list.size() > kMaxListedNames ? names + ", …" : names;
}

/// Null: there is none of that name.
Json* find_named(Json& list, const std::string& name)
{
    const auto found = std::find_if(list.begin(), list.end(), [&](const Json& one) { return one["name"] == name; });
    return found == list.end() ? nullptr : &*found;
}

/// What one change does; its error names the field of the change.
class OneChange {
  public:
    OneChange(Json& centers, const NetworkChange& change, const std::string& path)
        : list_(centers["centers"]), change_(change), path_(path)
    {
    }

    Result<void> apply()
    {
        switch (change_.kind) {
        case NetworkChange::Kind::kScaleUnits:
        case NetworkChange::Kind::kSetUnits:
            return change_units();
        case NetworkChange::Kind::kAddCenter:
            return add_center();
        case NetworkChange::Kind::kRemoveCenter:
            return remove_center();
        }
        return {};
    }

  private:
    Error wrong(const char* field, const std::string& detail) const
    {
        return {Errc::kInvalid, "the changes do not fit the network", {{path_ + "." + field, detail}}};
    }
    Error no_center(const char* field, const std::string& name) const
    {
        return wrong(field, "there is no center " + name + ": there are " + names_in(list_));
    }

    Result<void> change_units()
    {
        Json* const center = find_named(list_, change_.center);
        if (center == nullptr) return no_center("center", change_.center);
        Json& unit_types = (*center)["unit_types"];
        if (!change_.unit_type.empty() && find_named(unit_types, change_.unit_type) == nullptr)
            return wrong("unit_type", change_.center + " has no unit type " + change_.unit_type + ": it has " +
                                          names_in(unit_types));
        for (Json& unit_type : unit_types) {
            if (!change_.unit_type.empty() && unit_type["name"] != change_.unit_type) continue;
            if (change_.kind == NetworkChange::Kind::kSetUnits)
                unit_type["unit_count"] = change_.unit_count;
            else
                scale_unit_count(unit_type, change_.factor);
            if (unit_type["unit_count"].get<std::int64_t>() > kMaxChangedUnits)
                return wrong("factor", "makes more than " + std::to_string(kMaxChangedUnits) + " units");
        }
        return {};
    }

    Result<void> add_center()
    {
        if (find_named(list_, change_.center) != nullptr)
            return wrong("center", "there is a center " + change_.center + " already");
        const Json* const like = find_named(list_, change_.like);
        if (like == nullptr) return no_center("like", change_.like);
        Json added = *like;
        added["name"] = change_.center;
        list_.push_back(std::move(added));
        return {};
    }

    Result<void> remove_center()
    {
        const Json* const center = find_named(list_, change_.center);
        if (center == nullptr) return no_center("center", change_.center);
        if (list_.size() == 1) return wrong("center", change_.center + " is the only center that is left");
        list_.erase(static_cast<std::size_t>(center - &list_[0]));
        return {};
    }

    Json& list_;
    const NetworkChange& change_;
    std::string path_;
};

std::string change_path(const std::string& path, std::size_t index)
{
    return path + "[" + std::to_string(index) + "]";
}

} // namespace

std::vector<NetworkChange> parse_network_changes(const Json& changes, const std::string& path,
                                                 std::vector<FieldError>& errors)
{
    std::vector<NetworkChange> parsed;
    if (!changes.is_array() || changes.size() > kMaxChanges) {
        errors.push_back({path, "must be a list of at most " + std::to_string(kMaxChanges) + " changes"});
        return parsed;
    }
    for (std::size_t i = 0; i < changes.size(); ++i)
        parsed.push_back(parse_change(changes[i], change_path(path, i), errors));
    return parsed;
}

Result<void> apply_changes(Json& centers, std::span<const NetworkChange> changes, const std::string& path)
{
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (const Result<void> done = OneChange(centers, changes[i], change_path(path, i)).apply(); !done) return done;
    }
    return {};
}

void scale_unit_count(Json& unit_type, double factor)
{
    const double count = std::round(unit_type["unit_count"].get<double>() * factor);
    unit_type["unit_count"] = static_cast<std::int64_t>(std::clamp(count, 1.0, 1e15));
}

} // namespace fathom::simulation
