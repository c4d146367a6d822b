#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fathom::cli {

enum class Align { kLeft, kRight };

/// How a cell is coloured where colours are shown.
enum class Tone { kPlain, kGood, kBad, kPending, kFaint };

/// The tone of a state's name: "succeeded" is good, "failed" is bad, "queued" is pending.
Tone tone_of_state(const std::string& state);

struct Column {
    std::string title;
    Align align = Align::kLeft;
    int drop_rank = 0;        ///< 0: always shown; else the highest goes first when the width is short
    bool may_shorten = false; ///< its texts may be cut before columns are dropped
};

/// One text of a table. What comes from outside is made printable when it is added.
struct Cell {
    std::string text;
    Tone tone = Tone::kPlain;

    // Implicit on purpose: rows are written as lists of texts.
    Cell(std::string value, Tone how = Tone::kPlain) : text(std::move(value)), tone(how) {}
    Cell(const char* value) : text(value) {}
};

struct TableStyle {
    std::size_t width = 0; ///< columns to fit into; 0: not limited
    bool colour = false;
    std::size_t indent = 0;
};

/// Rows under titles, columns two spaces apart, a line each.
class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Missing cells at the end are empty.
    void add_row(std::vector<Cell> cells);
    bool empty() const { return rows_.empty(); }

    /// Titles and rows with line ends. Where the width is short, texts that may be cut are, then the least
    /// important columns go; what must be shown is never cut.
    std::string render(const TableStyle& style) const;

  private:
    std::vector<std::size_t> fit(const TableStyle& style, std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

/// Names and values, one a line, the values aligned: `State:    running`.
std::string render_details(const std::vector<std::pair<std::string, Cell>>& details, const TableStyle& style);

} // namespace fathom::cli
