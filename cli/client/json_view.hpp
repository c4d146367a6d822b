#pragma once

#include "core/base/json_view.hpp"

#include <string>
#include <string_view>

namespace fathom::cli {

// Reading the server's answers for tables: core/base/json_view, and how a table shows what was read.

using json_view::is_true;
using json_view::items_of;
using json_view::member;
using json_view::number_of;
using json_view::text_of;
using json_view::time_of;

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
