#pragma once

#include "core/base/result.hpp"

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::simulation {

/// A finite number that is all of the text but blanks around it; empty: there is none.
std::optional<double> parse_padded_number(std::string_view text);

/// Comma-separated values with a header line, read line by line, however many there are; fields have no quotes.
class CsvLines {
  public:
    /// Reads the header. The stream must outlive this.
    /// @param columns   what can be asked for, by its place here. A name that begins with '?' may be missing.
    /// @error kInvalid  a column is missing; says which.
    static Result<CsvLines> open(std::istream& input, const std::vector<std::string_view>& columns);

    /// Goes to the next line that is not empty; false: there is none.
    bool next();
    std::int64_t line() const { return line_; } ///< its number in the file, counted from 1
    /// How many fields it has beside what the header has: negative where it was cut off.
    std::ptrdiff_t excess() const;
    const std::string& header() const { return header_; }
    /// A field of the line; empty also where the line is too short or the file has no such column.
    std::string_view text(std::size_t column) const;
    std::optional<double> number(std::size_t column) const { return parse_padded_number(text(column)); }

  private:
    explicit CsvLines(std::istream& input) : input_(&input) {}

    std::istream* input_;
    std::string header_;
    std::string text_;
    std::size_t header_fields_{};
    std::vector<std::size_t> places_;      ///< by column; kMissing
    std::vector<std::string_view> fields_; ///< of the line
    std::int64_t line_ = 1;
};

} // namespace fathom::simulation
