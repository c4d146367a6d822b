#pragma once

#include "core/decide/routing/route_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

/// What the readers of a decision's inputs share.
namespace fathom::route_inputs {

inline constexpr std::size_t kMaxSteps = 512;
inline constexpr std::size_t kMaxRows = 10000; ///< of measurements, curves, holds of one unit type
inline constexpr std::size_t kMaxUnitTypes = 1000;
inline constexpr std::int64_t kMaxUnits = std::int64_t{1} << 40U;
inline constexpr double kMax = 1e300;

using Errors = std::vector<FieldError>;

/// Calls `read(item, path)` for each item of an array that may be missing.
template <class Read>
void for_each_item(ObjectReader& reader, std::string_view name, std::size_t most, Read read)
{
    const Json* items = reader.array(name, 0, most);
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size(); ++i)
        read((*items)[i], reader.path_of(name) + "[" + std::to_string(i) + "]");
}

/// The numbers of a row such as [0, 12.5]; reports a row that is none.
template <std::size_t Count>
std::optional<std::array<double, Count>> read_row(const Json& json, const std::string& path, Errors& errors)
{
    std::array<double, Count> row{};
    bool is_row = json.is_array() && json.size() == Count;
    for (std::size_t i = 0; is_row && i < Count; ++i) {
        is_row = json[i].is_number();
        if (is_row) row[i] = json[i].get<double>();
    }
    if (is_row) return row;
    errors.push_back({path, "must be a list of " + std::to_string(Count) + " numbers"});
    return std::nullopt;
}

inline double number(ObjectReader& reader, std::string_view name)
{
    return reader.required_number(name, 0, kMax);
}

inline std::string text(ObjectReader& reader, std::string_view name)
{
    return reader.required_string(name, {});
}

inline Timestamp time(ObjectReader& reader, std::string_view name)
{
    const std::optional<Timestamp> at = reader.optional_time(name);
    if (!at && !reader.has(name)) reader.fail(name, "is missing");
    return at.value_or(Timestamp{});
}

MeasuredOperator read_measured(const Json& json, const std::string& path, Errors& errors);

/// Of a unit type. Older inputs have none.
std::optional<Compression> read_compression(ObjectReader& unit_type, Errors& errors);

/// The request of the document.
RouteRequest read_request(const Json& json, Errors& errors);

inline std::vector<GpuRoom> read_gpu_rooms(ObjectReader& reader, std::string_view name, Errors& errors)
{
    std::vector<GpuRoom> rooms;
    for_each_item(reader, name, kMaxRows, [&](const Json& item, const std::string& at) {
        const auto row = read_row<4>(item, at, errors);
        if (!row) return;
        constexpr double kMaxBytes = 1e15; // sums stay whole numbers
        const auto bytes = [&](std::size_t i) {
            return static_cast<std::int64_t>(std::clamp((*row)[i], 0.0, kMaxBytes));
        };
        rooms.push_back({bytes(0), bytes(1), bytes(2), bytes(3)});
    });
    return rooms;
}

} // namespace fathom::route_inputs
