#include "core/base/json_reader.hpp"

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Nobody reads more, and an answer must not be larger than its request.
constexpr std::size_t kMaxErrors = 100;

void add_error(std::vector<FieldError>& errors, FieldError error)
{
    if (errors.size() > kMaxErrors) return;
    if (errors.size() == kMaxErrors) error = {"", "there are more errors than are listed here"};
    errors.push_back(std::move(error));
}

/// Deepest nesting of brackets outside strings, counted before any tree is built.
std::size_t nesting_depth(std::string_view text)
{
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
            continue;
        }
        if (c == '"')
            in_string = true;
        else if (c == '{' || c == '[')
            deepest = std::max(deepest, ++depth);
        else if ((c == '}' || c == ']') && depth > 0)
            --depth;
    }
    return deepest;
}

std::string range_text(auto min, auto max)
{
    return "must be between " + Json(min).dump() + " and " + Json(max).dump();
}

std::string quoted_list(const std::vector<std::string_view>& values)
{
    std::string text;
    for (const std::string_view value : values) {
        if (!text.empty()) text += ", ";
        text += "\"" + std::string(value) + "\"";
    }
    return text;
}

} // namespace

Result<Json> parse_json(std::string_view text, JsonLimits limits)
{
    if (text.size() > limits.max_bytes)
        return Error{Errc::kTooLarge, "larger than " + std::to_string(limits.max_bytes) + " bytes"};
    if (nesting_depth(text) > limits.max_depth)
        return Error{Errc::kInvalid, "nested deeper than " + std::to_string(limits.max_depth) + " levels"};
    try {
        return Json::parse(text);
    } catch (const Json::exception& e) {
        // The library's text starts with a tag in brackets that says nothing to a user.
        std::string detail = e.what();
        if (const auto end = detail.find("] "); detail.starts_with("[json.") && end != std::string::npos)
            detail.erase(0, end + 2);
        // Its quotation of the input may cut a UTF-8 sequence.
        detail = Json(detail).dump(-1, ' ', true, Json::error_handler_t::replace);
        return Error{Errc::kInvalid, "not valid JSON: " + detail.substr(1, detail.size() - 2)};
    }
}

std::optional<std::string> find_nul(const Json& json, const std::string& path)
{
    if (json.is_string() && json.get_ref<const std::string&>().find('\0') != std::string::npos) return path;
    if (json.is_array()) {
        for (std::size_t i = 0; i < json.size(); ++i) {
            if (auto found = find_nul(json[i], path + "[" + std::to_string(i) + "]")) return found;
        }
    }
    if (!json.is_object()) return std::nullopt;
    for (const auto& [name, value] : json.items()) {
        if (name.find('\0') != std::string::npos) return path;
        if (auto found = find_nul(value, path.empty() ? name : path + "." + name)) return found;
    }
    return std::nullopt;
}

bool contains_nul(const Json& json)
{
    return find_nul(json).has_value();
}

ObjectReader::ObjectReader(const Json& json, std::string path, std::vector<FieldError>& errors)
    : json_(&json), path_(std::move(path)), errors_(&errors)
{
    if (json.is_object()) return;
    add_error(errors, {path_, std::string("must be an object, not ") + json.type_name()});
    static const Json kEmpty = Json::object();
    json_ = &kEmpty;
}

std::string ObjectReader::path_of(std::string_view name) const
{
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

void ObjectReader::fail(std::string_view name, std::string detail)
{
    add_error(*errors_, {path_of(name), std::move(detail)});
}

bool ObjectReader::has(std::string_view name) const
{
    const auto field = json_->find(name);
    return field != json_->end() && !field->is_null();
}

std::string_view ObjectReader::name_or_former(std::string_view name, std::string_view former) const
{
    return !has(name) && has(former) ? former : name;
}

const Json* ObjectReader::find(std::string_view name)
{
    seen_.emplace_back(name);
    const auto field = json_->find(name);
    return field == json_->end() || field->is_null() ? nullptr : &*field;
}

const Json* ObjectReader::find_required(std::string_view name)
{
    const Json* value = find(name);
    if (value == nullptr) fail(name, "is required");
    return value;
}

bool ObjectReader::check_string(std::string_view name, const Json& value, const StringRule& rule)
{
    if (!value.is_string()) {
        fail(name, std::string("must be a string, not ") + value.type_name());
        return false;
    }
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() < rule.min_length || text.size() > rule.max_length) {
        fail(name, rule.min_length == 0 ? "must be at most " + std::to_string(rule.max_length) + " bytes long"
                                        : "must be " + std::to_string(rule.min_length) + " to " +
                                              std::to_string(rule.max_length) + " bytes long");
        return false;
    }
    // PostgreSQL text cannot hold it, and no name needs it.
    if (text.find('\0') != std::string::npos) {
        fail(name, "must not contain a NUL character");
        return false;
    }
    if (!rule.one_of.empty() && std::find(rule.one_of.begin(), rule.one_of.end(), text) == rule.one_of.end()) {
        fail(name, "must be one of " + quoted_list(rule.one_of));
        return false;
    }
    return true;
}

bool ObjectReader::check_integer(std::string_view name, const Json& value, std::int64_t min, std::int64_t max)
{
    if (!value.is_number_integer()) {
        fail(name,
             std::string("must be a whole number, not ") + (value.is_number() ? "a fraction" : value.type_name()));
        return false;
    }
    const bool too_large =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (too_large || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
        fail(name, range_text(min, max));
        return false;
    }
    return true;
}

bool ObjectReader::check_number(std::string_view name, const Json& value, double min, double max)
{
    if (!value.is_number()) {
        fail(name, std::string("must be a number, not ") + value.type_name());
        return false;
    }
    const double number = value.get<double>();
    if (!std::isfinite(number) || number < min || number > max) {
        fail(name, range_text(min, max));
        return false;
    }
    return true;
}

std::string ObjectReader::required_string(std::string_view name, const StringRule& rule)
{
    const Json* value = find_required(name);
    return value != nullptr && check_string(name, *value, rule) ? value->get<std::string>() : std::string();
}

std::optional<std::string> ObjectReader::optional_string(std::string_view name, const StringRule& rule)
{
    const Json* value = find(name);
    if (value == nullptr || !check_string(name, *value, rule)) return std::nullopt;
    return value->get<std::string>();
}

std::int64_t ObjectReader::required_integer(std::string_view name, std::int64_t min, std::int64_t max)
{
    const Json* value = find_required(name);
    return value != nullptr && check_integer(name, *value, min, max) ? value->get<std::int64_t>() : min;
}

std::optional<std::int64_t> ObjectReader::optional_integer(std::string_view name, std::int64_t min, std::int64_t max)
{
    const Json* value = find(name);
    if (value == nullptr || !check_integer(name, *value, min, max)) return std::nullopt;
    return value->get<std::int64_t>();
}

double ObjectReader::required_number(std::string_view name, double min, double max)
{
    const Json* value = find_required(name);
    return value != nullptr && check_number(name, *value, min, max) ? value->get<double>() : min;
}

std::optional<double> ObjectReader::optional_number(std::string_view name, double min, double max)
{
    const Json* value = find(name);
    if (value == nullptr || !check_number(name, *value, min, max)) return std::nullopt;
    return value->get<double>();
}

std::optional<bool> ObjectReader::optional_boolean(std::string_view name)
{
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) {
        fail(name, std::string("must be true or false, not ") + value->type_name());
        return std::nullopt;
    }
    return value->get<bool>();
}

std::optional<Timestamp> ObjectReader::optional_time(std::string_view name)
{
    const std::optional<std::string> text = optional_string(name, {.max_length = 64});
    if (!text) return std::nullopt;
    const Result<Timestamp> time = parse_rfc3339(*text);
    if (!time) {
        fail(name, time.error().detail);
        return std::nullopt;
    }
    return *time;
}

std::vector<std::string> ObjectReader::strings(std::string_view name, std::size_t max_items, const StringRule& rule)
{
    std::vector<std::string> values;
    const Json* items = array(name, 0, max_items);
    if (items == nullptr) return values;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string item_name = std::string(name) + "[" + std::to_string(i) + "]";
        if (check_string(item_name, (*items)[i], rule)) values.push_back((*items)[i].get<std::string>());
    }
    return values;
}

const Json* ObjectReader::array(std::string_view name, std::size_t min_items, std::size_t max_items)
{
    const Json* value = min_items > 0 ? find_required(name) : find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) {
        fail(name, std::string("must be an array, not ") + value->type_name());
        return nullptr;
    }
    if (value->size() < min_items || value->size() > max_items) {
        fail(name, "must have " + std::to_string(min_items) + " to " + std::to_string(max_items) + " items");
        return nullptr;
    }
    return value;
}

const Json* ObjectReader::object(std::string_view name)
{
    const Json* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) {
        fail(name, std::string("must be an object, not ") + value->type_name());
        return nullptr;
    }
    return value;
}

const Json* ObjectReader::any(std::string_view name)
{
    return find(name);
}

void ObjectReader::finish(UnknownFields unknown)
{
    if (unknown == UnknownFields::kIgnore) return;
    for (const auto& [name, value] : json_->items()) {
        if (errors_->size() > kMaxErrors) return;
        if (std::find(seen_.begin(), seen_.end(), name) == seen_.end()) fail(name, "is not a known field");
    }
}

Result<void> no_errors(std::vector<FieldError> errors, std::string_view what)
{
    if (errors.empty()) return {};
    return Error{Errc::kInvalid,
                 std::string(what) + " has " + std::to_string(errors.size()) +
                     (errors.size() == 1 ? " error" : " errors"),
                 std::move(errors)};
}

} // namespace fathom
