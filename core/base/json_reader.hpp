#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

using Json = nlohmann::json;

struct JsonLimits {
    std::size_t max_bytes = 4UL << 20U;
    std::size_t max_depth = 32;
};

/// Parses JSON from outside: size and nesting bounded before a tree is built, UTF-8 checked,
/// numbers that no double holds refused.
/// @error kInvalid   not JSON; the detail says where.
/// @error kTooLarge  over `limits.max_bytes`.
Result<Json> parse_json(std::string_view text, JsonLimits limits = {});

enum class UnknownFields { kReject, kIgnore };

/// Where a string or name in it holds a NUL character, which PostgreSQL's jsonb does not take: `command[0]`.
std::optional<std::string> find_nul(const Json& json, const std::string& path = "");
bool contains_nul(const Json& json);

/// Reads one JSON object strictly and gathers every field error instead of stopping at the first.
///
///     ObjectReader reader(json, "", errors);
///     job.name = reader.required_string("name", {.max_length = 128});
///     reader.finish(UnknownFields::kReject);
///
/// After reading, the value is good only if `errors` stayed empty. Not thread-safe; keeps references
/// to `json` and `errors`.
class ObjectReader {
  public:
    struct StringRule {
        std::size_t min_length = 0;
        std::size_t max_length = 4096; ///< bytes
        /// When not empty, only these values.
        std::vector<std::string_view> one_of{};
    };

    ObjectReader(const Json& json, std::string path, std::vector<FieldError>& errors);

    /// True when the field is there and not null.
    bool has(std::string_view name) const;
    /// The name that the field is read by: `name`, or `former` where only that is there, as in documents of the version
    /// before.
    std::string_view name_or_former(std::string_view name, std::string_view former) const;

    std::string required_string(std::string_view name, const StringRule& rule);
    std::optional<std::string> optional_string(std::string_view name, const StringRule& rule);
    std::int64_t required_integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::optional<std::int64_t> optional_integer(std::string_view name, std::int64_t min, std::int64_t max);
    double required_number(std::string_view name, double min, double max);
    std::optional<double> optional_number(std::string_view name, double min, double max);
    std::optional<bool> optional_boolean(std::string_view name);
    std::optional<Timestamp> optional_time(std::string_view name);

    /// An array of strings; missing is empty.
    std::vector<std::string> strings(std::string_view name, std::size_t max_items, const StringRule& rule);
    /// The array itself, to be read item by item; nullptr when missing or wrong (then reported).
    const Json* array(std::string_view name, std::size_t min_items, std::size_t max_items);
    /// The object itself; nullptr when missing or wrong (then reported).
    const Json* object(std::string_view name);
    /// Any value; nullptr when missing.
    const Json* any(std::string_view name);

    /// Reports a rule of the caller's own.
    void fail(std::string_view name, std::string detail);
    /// The path of a field of this object, as it stands in error messages.
    std::string path_of(std::string_view name) const;

    /// Call once at the end: reports fields that nobody read.
    void finish(UnknownFields unknown);

  private:
    const Json* find(std::string_view name);
    const Json* find_required(std::string_view name);
    bool check_string(std::string_view name, const Json& value, const StringRule& rule);
    bool check_integer(std::string_view name, const Json& value, std::int64_t min, std::int64_t max);
    bool check_number(std::string_view name, const Json& value, double min, double max);

    const Json* json_;
    std::string path_;
    std::vector<FieldError>* errors_;
    std::vector<std::string> seen_;
};

/// The usual end of a check: kInvalid with every field error, if there are any. `what`: "the job", say.
Result<void> no_errors(std::vector<FieldError> errors, std::string_view what);

/// The usual end of a parse: the value, or kInvalid with every field error.
template <class T>
Result<T> value_or_errors(T value, std::vector<FieldError> errors, std::string_view what)
{
    if (const Result<void> right = no_errors(std::move(errors), what); !right) return right.error();
    return value;
}

} // namespace fathom
