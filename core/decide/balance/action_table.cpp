#include "core/decide/balance/action_table.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/result.hpp"
#include "core/decide/balance/control_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxRows = 100;
constexpr std::int64_t kMaxClockMhz = 10'000;
constexpr std::int64_t kMaxSubUnits = 1'000'000;
constexpr int kMaxPrecisionSteps = 4;

std::optional<double> parse_plain_number(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return parse_number<double>(text);
}

/// How a row lies beside the one before it.
void check_row_place(const OutputInterval& before, const OutputInterval& row, const std::string& path,
                     std::vector<FieldError>& errors)
{
    if (row.from > before.to)
        errors.push_back({path, fmt::format("gap: nothing covers the outputs from {} to {}", before.to, row.from)});
    else if (row.from < before.to)
        errors.push_back({path, fmt::format("overlap: the outputs from {} to {} are covered twice", row.from,
                                            std::min(before.to, row.to))});
    else if (!before.has_to && !row.has_from)
        errors.push_back({path, fmt::format("gap: nothing covers the output {}", row.from)});
    else if (before.has_to && row.has_from)
        errors.push_back({path, fmt::format("overlap: the output {} is covered twice", row.from)});
}

ActionRow read_row(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    ActionRow row;
    const std::string text = reader.required_string("u", {.min_length = 1, .max_length = 64});
    if (const Result<OutputInterval> interval = parse_output_interval(text))
        row.interval = *interval;
    else if (!text.empty())
        reader.fail("u", interval.error().detail);
    row.actions.sub_units = reader.optional_integer("sub_units", -kMaxSubUnits, kMaxSubUnits).value_or(0);
    row.actions.clock_mhz = reader.optional_integer("clock_mhz", -kMaxClockMhz, kMaxClockMhz).value_or(0);
    row.actions.precision_steps = static_cast<int>(
        reader.optional_integer("precision_steps", -kMaxPrecisionSteps, kMaxPrecisionSteps).value_or(0));
    reader.finish(UnknownFields::kReject);
    return row;
}

} // namespace

std::string to_string(const OutputInterval& interval)
{
    return fmt::format("{}{}, {}{}", interval.has_from ? '[' : '(', interval.from, interval.to,
                       interval.has_to ? ']' : ')');
}

Result<OutputInterval> parse_output_interval(std::string_view text)
{
    const auto wrong = [] {
        return Error{Errc::kInvalid, "must be an interval such as [-0.9, -0.7): brackets for ends that belong to it, "
                                     "parentheses for ends that do not"};
    };
    const std::size_t comma = text.find(',');
    if (text.size() < 5 || comma == std::string_view::npos) return wrong();
    const char first = text.front();
    const char last = text.back();
    const std::optional<double> from = parse_plain_number(text.substr(1, comma - 1));
    const std::optional<double> to = parse_plain_number(text.substr(comma + 1, text.size() - comma - 2));
    if ((first != '[' && first != '(') || (last != ']' && last != ')') || !from || !to) return wrong();
    const OutputInterval interval{*from, *to, first == '[', last == ']'};
    const bool is_empty = *from > *to || (*from == *to && !(interval.has_from && interval.has_to));
    if (is_empty) return Error{Errc::kInvalid, "is an interval in which nothing lies"};
    return interval;
}

const ActionTable& default_action_table()
{
    static const ActionTable table{
        {{-0.9, -0.7, true, false}, {.sub_units = 4, .clock_mhz = 300, .precision_steps = -2}},
        {{-0.7, -0.5, true, false}, {.sub_units = 3, .clock_mhz = 200, .precision_steps = -1}},
        {{-0.5, -0.3, true, false}, {.sub_units = 2, .clock_mhz = 100, .precision_steps = 0}},
        {{-0.3, -0.1, true, false}, {.sub_units = 1, .clock_mhz = 0, .precision_steps = 0}},
        {{-0.1, 0.1, true, true}, {}},
        {{0.1, 0.3, false, true}, {.sub_units = -1, .clock_mhz = 0, .precision_steps = 0}},
        {{0.3, 0.5, false, true}, {.sub_units = -2, .clock_mhz = -100, .precision_steps = 0}},
        {{0.5, 0.7, false, true}, {.sub_units = -3, .clock_mhz = -200, .precision_steps = 1}},
        {{0.7, 0.9, false, true}, {.sub_units = -4, .clock_mhz = -300, .precision_steps = 2}},
    };
    return table;
}

std::vector<FieldError> check_action_table(const ActionTable& table, const std::string& path)
{
    std::vector<FieldError> errors;
    if (table.empty()) return {{path, fmt::format("gap: nothing covers [-{}, {}]", kMaxOutput, kMaxOutput)}};
    const auto path_at = [&](std::size_t row) { return fmt::format("{}[{}].u", path, row); };
    const OutputInterval& first = table.front().interval;
    const OutputInterval& last = table.back().interval;
    if (first.from != -kMaxOutput || !first.has_from)
        errors.push_back({path_at(0), fmt::format("must begin with [-{}", kMaxOutput)});
    for (std::size_t i = 1; i < table.size(); ++i)
        check_row_place(table[i - 1].interval, table[i].interval, path_at(i), errors);
    if (last.to != kMaxOutput || !last.has_to)
        errors.push_back({path_at(table.size() - 1), fmt::format("must end with {}]", kMaxOutput)});
    return errors;
}

BalanceActions look_up_actions(const ActionTable& table, double output)
{
    for (const ActionRow& row : table) {
        if (row.interval.contains(output)) return row.actions;
    }
    return {};
}

ActionTable read_action_table(const Json& items, const std::string& path, std::vector<FieldError>& errors)
{
    ActionTable table;
    if (!items.is_array() || items.empty() || items.size() > kMaxRows) {
        errors.push_back({path, fmt::format("must be a list of 1 to {} rows", kMaxRows)});
        return table;
    }
    const std::size_t before = errors.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string row_path = fmt::format("{}[{}]", path, i);
        if (items[i].is_object())
            table.push_back(read_row(items[i], row_path, errors));
        else
            errors.push_back({row_path, "must be an object"});
    }
    if (errors.size() > before) return table;
    const std::vector<FieldError> wrong = check_action_table(table, path);
    errors.insert(errors.end(), wrong.begin(), wrong.end());
    return table;
}

Result<ActionTable> parse_action_table(const Json& document)
{
    std::vector<FieldError> errors;
    ActionTable table = read_action_table(document, "actions", errors);
    return value_or_errors(std::move(table), std::move(errors), "the action table");
}

Json to_json(const ActionTable& table)
{
    Json items = Json::array();
    for (const ActionRow& row : table)
        items.push_back({{"u", to_string(row.interval)},
                         {"precision_steps", row.actions.precision_steps},
                         {"clock_mhz", row.actions.clock_mhz},
                         {"sub_units", row.actions.sub_units}});
    return items;
}

} // namespace fathom
