#include "cli/simulate/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fathom {
namespace {

constexpr std::size_t kMostLines = 10'000'000;

std::vector<std::string_view> split(std::string_view line)
{
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::vector<std::string_view> fields;
    while (true) {
        const std::size_t comma = line.find(',');
        fields.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return fields;
        line.remove_prefix(comma + 1);
    }
}

} // namespace

Result<CsvTable> CsvTable::read(std::istream& input, const std::vector<std::string>& columns)
{
    CsvTable table;
    table.columns_ = columns;
    std::string line;
    std::getline(input, line);
    const std::string header_line = line;
    const std::vector<std::string_view> header = split(header_line);
    std::vector<std::size_t> places;
    for (const std::string& column : columns) {
        const auto found = std::find(header.begin(), header.end(), column);
        if (found == header.end()) return Error{Errc::kInvalid, fmt::format("there is no column {}", column)};
        places.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    for (std::size_t number = 2; std::getline(input, line); ++number) {
        if (number > kMostLines) return Error{Errc::kTooLarge, fmt::format("more than {} lines", kMostLines)};
        if (line.empty() || line == "\r") continue;
        const std::vector<std::string_view> fields = split(line);
        if (fields.size() != header.size()) {
            return Error{Errc::kInvalid,
                         fmt::format("line {} has {} fields, the header has {}", number, fields.size(), header.size())};
        }
        for (const std::size_t place : places)
            table.fields_.emplace_back(fields[place]);
        table.lines_.push_back(number);
    }
    return table;
}

std::size_t CsvTable::size() const
{
    return lines_.size();
}

const std::string& CsvTable::text(std::size_t row, std::size_t column) const
{
    return fields_[row * columns_.size() + column];
}

Result<double> CsvTable::number(std::size_t row, std::size_t column) const
{
    const std::string& field = text(row, column);
    double value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) {
        return Error{Errc::kInvalid,
                     fmt::format("line {}: {} is \"{}\", not a number", lines_[row], columns_[column], field)};
    }
    return value;
}

} // namespace fathom
