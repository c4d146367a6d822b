#include "cli/client/json_view.hpp"

#include "cli/text/format_units.hpp"

namespace fathom::cli {

std::string joined_texts(const Json& json, std::string_view name)
{
    std::string text;
    for (const Json& item : items_of(json, name))
        text += (text.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : item.dump());
    return text.empty() ? "-" : text;
}

std::string first_sentence_of(const Json& json, std::string_view name)
{
    const std::string text = text_of(json, name);
    return text.substr(0, text.find(". "));
}

std::string age_of(const Json& json, std::string_view name, Timestamp now)
{
    const std::optional<Timestamp> time = time_of(json, name);
    return time ? format_age(*time, now) : "-";
}

std::string duration_of(const Json& json, std::string_view name)
{
    const std::optional<double> seconds = number_of(json, name);
    return seconds ? format_duration(*seconds) : "-";
}

std::string count_of(const Json& json, std::string_view name)
{
    const Json& value = member(json, name);
    return value.is_number_integer() ? format_count(value.get<std::int64_t>()) : text_of(json, name);
}

std::string parameters_of(const Json& json, std::string_view name)
{
    const Json& value = member(json, name);
    if (!value.is_object() || value.empty()) return "-";
    std::string text;
    for (const auto& [key, number] : value.items())
        text += (text.empty() ? "" : ",") + key + "=" + number.dump();
    return text;
}

} // namespace fathom::cli
