#include "core/base/json_view.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fathom::json_view {

const Json& member(const Json& json, std::string_view name)
{
    static const Json kNull;
    if (!json.is_object()) return kNull;
    const auto found = json.find(name);
    return found == json.end() ? kNull : *found;
}

std::string text_of(const Json& json, std::string_view name, std::string_view absent)
{
    const Json& value = member(json, name);
    if (value.is_null()) return std::string(absent);
    if (value.is_string()) return value.get<std::string>();
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> number_of(const Json& json, std::string_view name)
{
    const Json& value = member(json, name);
    if (!value.is_number()) return std::nullopt;
    return value.get<double>();
}

std::optional<Timestamp> time_of(const Json& json, std::string_view name)
{
    const Json& value = member(json, name);
    if (!value.is_string()) return std::nullopt;
    const Result<Timestamp> time = parse_rfc3339(value.get<std::string>());
    if (!time) return std::nullopt;
    return *time;
}

bool is_true(const Json& json, std::string_view name)
{
    const Json& value = member(json, name);
    return value.is_boolean() && value.get<bool>();
}

const Json& items_of(const Json& json, std::string_view name)
{
    static const Json kNone = Json::array();
    const Json& value = member(json, name);
    return value.is_array() ? value : kNone;
}

} // namespace fathom::json_view
