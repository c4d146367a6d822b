#include "simulator/workloads/csv_lines.hpp"

#include "core/base/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMissing = static_cast<std::size_t>(-1);

std::string_view without_end(std::string_view line)
{
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

void split(std::string_view line, std::vector<std::string_view>& fields)
{
    fields.clear();
    while (true) {
        const std::size_t comma = line.find(',');
        fields.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

} // namespace

std::optional<double> parse_padded_number(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return parse_number<double>(text);
}

Result<CsvLines> CsvLines::open(std::istream& input, const std::vector<std::string_view>& columns)
{
    CsvLines lines(input);
    std::getline(input, lines.header_);
    std::vector<std::string_view> header;
    split(without_end(lines.header_), header);
    lines.header_fields_ = header.size();
    for (std::string_view column : columns) {
        const bool is_optional = column.starts_with('?');
        if (is_optional) column.remove_prefix(1);
        const auto found = std::find(header.begin(), header.end(), column);
        if (found == header.end() && !is_optional)
            return Error{Errc::kInvalid, fmt::format("line 1: expected a header with the column {}", column)};
        lines.places_.push_back(found == header.end() ? kMissing : static_cast<std::size_t>(found - header.begin()));
    }
    return lines;
}

bool CsvLines::next()
{
    while (std::getline(*input_, text_)) {
        ++line_;
        const std::string_view line = without_end(text_);
        if (line.empty()) continue;
        split(line, fields_);
        return true;
    }
    return false;
}

std::ptrdiff_t CsvLines::excess() const
{
    return static_cast<std::ptrdiff_t>(fields_.size()) - static_cast<std::ptrdiff_t>(header_fields_);
}

std::string_view CsvLines::text(std::size_t column) const
{
    const std::size_t place = places_[column];
    return place < fields_.size() ? fields_[place] : std::string_view{};
}

} // namespace fathom::simulation
