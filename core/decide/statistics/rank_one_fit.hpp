#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace fathom {

/// A known entry of a table.
struct TableEntry {
    std::size_t row{};
    std::size_t column{};
    double value{};
};

/// How strongly a fit is held back.
struct FitStrength {
    double ridge{1};
    bool has_factor{false}; ///< else biases only
};

/// What a row or a column adds.
struct FitPart {
    double bias{};
    double factor{};
    std::size_t count{}; ///< its known entries
};

/// value ≈ row.bias + column.bias + row.factor · column.factor.
struct TableFit {
    std::vector<FitPart> rows;
    std::vector<FitPart> columns;

    double at(std::size_t row, std::size_t column) const
    {
        return rows[row].bias + columns[column].bias + rows[row].factor * columns[column].factor;
    }
};

/// Alternating ridge regression: minimizes Σ (value − fit)² + ridge · Σ (column.bias² + row.factor² + column.factor²)
/// over all rows for given columns, then over all columns for given rows, until it moves no more (at most 60 turns).
/// The row's bias is free: rows differ by orders of magnitude. Same entries in the same order, same fit.
TableFit fit_table(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count,
                   FitStrength strength);

/// A column that took no part, from its entries, for the rows as they are.
FitPart fit_column(std::span<const TableEntry> entries, const TableFit& fit, FitStrength strength);

/// An entry that was left out.
struct LeftOut {
    std::size_t row{};
    double error{}; ///< value − fit
    double scale{}; ///< √(1 + 1/n + 1/m) with the n and m other entries of its row and column
};

/// Fits without each entry: one by one of at most a hundred entries, else in ten parts. Those without two others in
/// their row and one in their column are not judged.
std::vector<LeftOut> leave_out(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count,
                               FitStrength strength);

} // namespace fathom
