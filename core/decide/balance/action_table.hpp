#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Which actions an output asks for (spec 3, R6).
namespace fathom {

/// What is to be changed at a unit.
struct BalanceActions {
    std::int64_t sub_units = 0; ///< to gain; negative: to give up
    std::int64_t clock_mhz = 0; ///< to add
    int precision_steps = 0;    ///< finer; negative: coarser

    bool any() const { return sub_units != 0 || clock_mhz != 0 || precision_steps != 0; }
    bool operator==(const BalanceActions&) const = default;
};

/// Outputs from one end to the other, each end belonging to them or not.
struct OutputInterval {
    double from{};
    double to{};
    bool has_from = true;
    bool has_to = true;

    bool contains(double output) const
    {
        return (output > from || (has_from && output == from)) && (output < to || (has_to && output == to));
    }
    bool operator==(const OutputInterval&) const = default;
};
/// `[-0.9, -0.7)`.
std::string to_string(const OutputInterval& interval);
/// @error kInvalid  not of that form, or nothing lies in it.
Result<OutputInterval> parse_output_interval(std::string_view text);

struct ActionRow {
    OutputInterval interval;
    BalanceActions actions;

    bool operator==(const ActionRow&) const = default;
};

/// Rows in ascending order; together they cover [−0.9, 0.9], each output once.
using ActionTable = std::vector<ActionRow>;

/// The table of R6.
const ActionTable& default_action_table();

/// Each gap and each overlap by name, also of a single output that no row or two rows have.
std::vector<FieldError> check_action_table(const ActionTable& table, const std::string& path);

/// What an output in [−0.9, 0.9] asks for. The table must have passed check_action_table().
BalanceActions look_up_actions(const ActionTable& table, double output);

/// Reads `[{"u": "[-0.9, -0.7)", "precision_steps": -2, "clock_mhz": 300, "sub_units": 4}, …]`; an action that is left
/// out is 0. Errors, gaps and overlaps among them, go to the list.
ActionTable read_action_table(const Json& items, const std::string& path, std::vector<FieldError>& errors);
/// @error kInvalid  with every error.
Result<ActionTable> parse_action_table(const Json& document);
Json to_json(const ActionTable& table);

} // namespace fathom
