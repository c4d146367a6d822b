#pragma once

#include "core/base/json_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

// Reading the server's answers for tables. The server may be newer: what is missing, null or of
// another type reads as absent, never as an error.

/// The member, or a null value.
const Json& member(const Json& json, std::string_view name);

/// The member as text; numbers and booleans as JSON writes them; `absent` when missing or null.
std::string text_of(const Json& json, std::string_view name, std::string_view absent = "-");
std::optional<double> number_of(const Json& json, std::string_view name);
std::optional<Timestamp> time_of(const Json& json, std::string_view name);
bool is_true(const Json& json, std::string_view name);

/// The member's items; none when it is no array.
const Json& items_of(const Json& json, std::string_view name = "items");

/// The member's strings joined by ", "; "-" for none.
std::string joined_texts(const Json& json, std::string_view name);

/// The member's text up to the end of its first sentence: what a list has room for.
std::string first_sentence_of(const Json& json, std::string_view name);

/// "3 min ago" of a member that is a time; "-" when absent.
std::string age_of(const Json& json, std::string_view name, Timestamp now);
/// "12.3 s" of a member in seconds; "-" when absent.
std::string duration_of(const Json& json, std::string_view name);
/// "1 234" of a whole number; "-" when absent.
std::string count_of(const Json& json, std::string_view name);
/// `k=512,m=512` of a member that is an object of numbers; "-" when empty or absent.
std::string parameters_of(const Json& json, std::string_view name);

} // namespace fathom::cli
