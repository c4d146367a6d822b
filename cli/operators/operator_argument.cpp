#include "cli/operators/operator_argument.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace fathom::cli {
namespace {

constexpr double kLargestCount = 1e12;

std::string quoted(std::string_view text)
{
    return "\"" + std::string(text) + "\"";
}

Error bad(std::string_view whole, const std::string& why)
{
    return Error{Errc::kInvalid, "operator " + quoted(whole) + ": " + why};
}

bool is_name(std::string_view text)
{
    if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::optional<std::int64_t> whole_number(std::string_view text)
{
    if (const auto value = parse_number<std::int64_t>(text)) return value;
    const auto number = parse_number<double>(text); // such as 1e6
    if (!number || std::abs(*number) > kLargestCount || std::floor(*number) != *number) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

/// Cuts off the text up to the separator, and the separator; everything when there is none.
std::string_view take_until(std::string_view& rest, char separator)
{
    const std::size_t end = rest.find(separator);
    const std::string_view taken = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return taken;
}

Result<void> read_count(std::string_view whole, std::string_view text, OperatorUse& use)
{
    const std::optional<std::int64_t> count = whole_number(text);
    if (!count || *count < 1 || static_cast<double>(*count) > kLargestCount)
        return bad(whole, "the count " + quoted(text) + " must be a whole number from 1 to 1e12");
    use.count = *count;
    return {};
}

/// `m=512;n=512;k=512` with the count of the operator after the last one: `k=512=3000`.
Result<bool> read_parameters(std::string_view whole, std::string_view text, OperatorUse& use)
{
    if (text.empty()) return bad(whole, "a parameter must follow \":\", as in dgemm:m=512");
    bool has_count = false;
    while (!text.empty()) {
        const bool is_last = text.find(';') == std::string_view::npos;
        const std::string_view part = take_until(text, ';');
        std::string_view rest = part;
        const std::string_view name = take_until(rest, '=');
        if (!is_name(name)) return bad(whole, quoted(part) + " is not a parameter; write name=value");
        if (rest.empty())
            return bad(whole, "parameter " + quoted(name) + " has no value; write " + std::string(name) + "=value");
        const std::string_view value = rest.substr(0, rest.find('='));
        const std::optional<std::int64_t> number = whole_number(value);
        if (!number) return bad(whole, "the value " + quoted(value) + " of " + quoted(name) + " is not a whole number");
        if (!use.parameters.emplace(name, *number).second)
            return bad(whole, "parameter " + quoted(name) + " is duplicated");
        if (value.size() == rest.size()) continue;
        if (!is_last) return bad(whole, "the count stands after the last parameter, not in " + quoted(part));
        if (const Result<void> count = read_count(whole, rest.substr(value.size() + 1), use); !count)
            return count.error();
        has_count = true;
    }
    return has_count;
}

Result<OperatorUse> parse_one(std::string_view whole, OperatorCount rule)
{
    OperatorUse use;
    const std::string_view id = whole.substr(0, whole.find_first_of(":="));
    if (id.empty()) return bad(whole, "the operator's id is missing; `fathom operator list` shows them");
    if (!is_name(id)) return bad(whole, quoted(id) + " is not an operator's id (a-z, 0-9, _)");
    use.id = id;
    bool has_count = false;
    const std::string_view rest = whole.substr(id.size());
    if (rest.starts_with(':')) {
        const Result<bool> read = read_parameters(whole, rest.substr(1), use);
        if (!read) return read.error();
        has_count = *read;
    } else if (rest.starts_with('=')) {
        if (const Result<void> count = read_count(whole, rest.substr(1), use); !count) return count.error();
        has_count = true;
    }
    if (!has_count && rule == OperatorCount::kRequired)
        return bad(whole, "how often the job executes it is missing; write " + std::string(whole) + "=COUNT");
    return use;
}

} // namespace

Result<std::vector<OperatorUse>> parse_operator_arguments(std::string_view text, OperatorCount count)
{
    std::vector<OperatorUse> uses;
    for (bool more = true; more;) {
        more = text.find(',') != std::string_view::npos;
        Result<OperatorUse> use = parse_one(take_until(text, ','), count);
        if (!use) return use.error();
        uses.push_back(std::move(*use));
    }
    return uses;
}

} // namespace fathom::cli
