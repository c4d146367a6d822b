#pragma once

#include "core/base/result.hpp"

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// A table of comma-separated values with a header line, as public data sets come; fields have no quotes.
class CsvTable {
  public:
    /// Reads all of it; empty lines are passed over.
    /// @error kInvalid   a column that is asked for is missing, or a line has more or fewer fields than the header.
    /// @error kTooLarge  over 10 million lines.
    static Result<CsvTable> read(std::istream& input, const std::vector<std::string>& columns);

    std::size_t size() const;
    /// A field by row and place in the columns that were asked for.
    const std::string& text(std::size_t row, std::size_t column) const;
    /// @error kInvalid  no finite number stands there; says in which line.
    Result<double> number(std::size_t row, std::size_t column) const;

  private:
    std::vector<std::string> columns_;
    std::vector<std::string> fields_; ///< row by row, only the columns that were asked for
    std::vector<std::size_t> lines_;  ///< of each row, counted from 1
};

} // namespace fathom
