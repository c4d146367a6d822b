#include "cli/text/table.hpp"

#include "cli/text/display_text.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::cli {
namespace {

constexpr std::size_t kGap = 2;
/// A text cut shorter than this says nothing any more.
constexpr std::size_t kMin = 12;

std::string_view colour_of(Tone tone)
{
    switch (tone) {
    case Tone::kPlain:
        return "";
    case Tone::kGood:
        return "\x1b[32m";
    case Tone::kBad:
        return "\x1b[31m";
    case Tone::kPending:
        return "\x1b[33m";
    case Tone::kFaint:
        return "\x1b[2m";
    }
    return "";
}

std::string coloured(const std::string& text, std::string_view colour)
{
    return colour.empty() || text.empty() ? text : std::string(colour) + text + "\x1b[0m";
}

/// Spaces that align nothing, at the end of a line.
void trim_end(std::string& line)
{
    line.erase(line.find_last_not_of(' ') + 1);
}

std::size_t total_width(const std::vector<std::size_t>& shown, const std::vector<std::size_t>& widths)
{
    std::size_t total = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (const std::size_t column : shown)
        total += widths[column];
    return total;
}

} // namespace

Tone tone_of_state(const std::string& state)
{
    if (state == "succeeded" || state == "running" || state == "online") return Tone::kGood;
    if (state == "failed" || state == "cancelled" || state == "lost" || state == "revoked") return Tone::kBad;
    return Tone::kPending;
}

void Table::add_row(std::vector<Cell> cells)
{
    cells.resize(columns_.size(), Cell(""));
    for (Cell& cell : cells)
        cell.text = printable(cell.text);
    rows_.push_back(std::move(cells));
}

/// Sets each column's width and returns which columns are shown.
std::vector<std::size_t> Table::fit(const TableStyle& style, std::vector<std::size_t>& widths) const
{
    std::vector<std::size_t> natural;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        std::size_t width = display_width(columns_[column].title);
        for (const std::vector<Cell>& row : rows_)
            width = std::max(width, display_width(row[column].text));
        natural.push_back(width);
    }
    std::vector<std::size_t> shown(columns_.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    const auto rank = [&](std::size_t column) { return columns_[column].drop_rank; };
    const std::size_t room = style.width > style.indent ? style.width - style.indent : 1;
    for (;;) {
        widths = natural;
        std::size_t total = total_width(shown, widths);
        if (style.width == 0 || total <= room) return shown;
        std::vector<std::size_t> by_rank = shown;
        std::sort(by_rank.begin(), by_rank.end(),
                  [&](auto a, auto b) { return std::pair(-rank(a), a) < std::pair(-rank(b), b); });
        for (const std::size_t column : by_rank) {
            const std::size_t least = std::max(kMin, display_width(columns_[column].title));
            if (!columns_[column].may_shorten || total <= room || widths[column] <= least) continue;
            const std::size_t cut = std::min(total - room, widths[column] - least);
            widths[column] -= cut;
            total -= cut;
        }
        if (total <= room || rank(by_rank.front()) == 0) return shown;
        shown.erase(std::find(shown.begin(), shown.end(), by_rank.front()));
    }
}

std::string Table::render(const TableStyle& style) const
{
    std::vector<std::size_t> widths;
    const std::vector<std::size_t> shown = fit(style, widths);
    std::string text;
    const auto add_line = [&](const auto& text_of, const auto& colour_of_column) {
        std::string line(style.indent, ' ');
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const std::size_t column = shown[i];
            const std::string cell = shortened(text_of(column), widths[column]);
            const std::string padding(widths[column] - std::min(widths[column], display_width(cell)), ' ');
            const std::string tinted = style.colour ? coloured(cell, colour_of_column(column)) : cell;
            line += columns_[column].align == Align::kRight ? padding + tinted : tinted + padding;
            if (i + 1 < shown.size()) line += std::string(kGap, ' ');
        }
        trim_end(line);
        text += line + "\n";
    };
    add_line([&](std::size_t column) { return columns_[column].title; },
             [](std::size_t) { return std::string_view("\x1b[1m"); });
    for (const std::vector<Cell>& row : rows_) {
        add_line([&](std::size_t column) { return row[column].text; },
                 [&](std::size_t column) { return colour_of(row[column].tone); });
    }
    return text;
}

std::string render_details(const std::vector<std::pair<std::string, Cell>>& details, const TableStyle& style)
{
    std::size_t width = 0;
    for (const auto& [name, value] : details)
        width = std::max(width, display_width(name) + 1);
    std::string text;
    for (const auto& [name, value] : details) {
        const std::string safe = printable(value.text);
        std::string line(style.indent, ' ');
        line += name + ":" + std::string(width - display_width(name) - 1 + kGap, ' ');
        line += style.colour ? coloured(safe, colour_of(value.tone)) : safe;
        trim_end(line);
        text += line + "\n";
    }
    return text;
}

} // namespace fathom::cli
