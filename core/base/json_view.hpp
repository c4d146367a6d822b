#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Reading answers of a server that may be newer: what is missing, null or of another type reads as absent, never as an
/// error.
namespace fathom::json_view {

/// The member, or a null value.
const Json& member(const Json& json, std::string_view name);

/// The member as text; numbers and booleans as JSON writes them; `absent` when missing or null.
std::string text_of(const Json& json, std::string_view name, std::string_view absent = "-");
std::optional<double> number_of(const Json& json, std::string_view name);
std::optional<Timestamp> time_of(const Json& json, std::string_view name);
bool is_true(const Json& json, std::string_view name);

/// The member's items; none when it is no array.
const Json& items_of(const Json& json, std::string_view name = "items");

} // namespace fathom::json_view
