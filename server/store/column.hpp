#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <pqxx/result>

#include <optional>
#include <string>

namespace fathom::server {

/// A timestamptz column; the session's DateStyle must be ISO, which is PostgreSQL's default. The column
/// is not null.
inline Timestamp to_timestamp(const pqxx::field& field)
{
    // "2026-11-20 11:04:14.123456+00" lacks what RFC 3339 asks for: the T and the offset's minutes.
    auto text = field.as<std::string>();
    if (text.size() > 10) text[10] = 'T';
    if (text.size() > 3 && (text[text.size() - 3] == '+' || text[text.size() - 3] == '-')) text += ":00";
    return parse_rfc3339(text).value();
}

inline std::optional<Timestamp> to_optional_timestamp(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return to_timestamp(field);
}

/// A column that may be null.
template <class T>
std::optional<T> optional_of(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return field.as<T>();
}

/// A json or jsonb column that we wrote ourselves.
inline Json to_json_value(const pqxx::field& field)
{
    return field.is_null() ? Json() : Json::parse(field.c_str());
}

/// For answers: RFC 3339 or null.
inline Json time_json(const std::optional<Timestamp>& time)
{
    return time ? Json(format_rfc3339(*time)) : Json();
}

/// For answers: null instead of an empty text.
inline Json text_or_null(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

} // namespace fathom::server
