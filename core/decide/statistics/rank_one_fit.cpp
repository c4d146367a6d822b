#include "core/decide/statistics/rank_one_fit.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr int kMaxTurns = 60;
constexpr double kStill = 1e-7;
constexpr std::size_t kMaxOneByOne = 100;
constexpr std::size_t kParts = 10;

/// The entries by row and by column, as positions into them.
class Lines {
  public:
    Lines(std::span<const TableEntry> entries, std::size_t count, std::size_t TableEntry::* line)
        : starts_(count + 1), positions_(entries.size())
    {
        for (const TableEntry& entry : entries)
            ++starts_[entry.*line + 1];
        for (std::size_t i = 0; i < count; ++i)
            starts_[i + 1] += starts_[i];
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < entries.size(); ++i)
            positions_[next[entries[i].*line]++] = i;
    }
    std::span<const std::size_t> at(std::size_t line) const
    {
        return std::span(positions_).subspan(starts_[line], starts_[line + 1] - starts_[line]);
    }

  private:
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> positions_;
};

/// Sums for a straight line bias + slope · x through what is left of the values, with ridges.
struct LineSums {
    double count{};
    double x{};
    double xx{};
    double y{};
    double xy{};

    void add(double at, double value)
    {
        count += 1;
        x += at;
        xx += at * at;
        y += value;
        xy += at * value;
    }
    /// @return bias and slope
    FitPart solve(double bias_ridge, FitStrength strength) const
    {
        FitPart part{0, 0, static_cast<std::size_t>(count)};
        if (part.count == 0) return part;
        const double a = count + bias_ridge;
        if (!strength.has_factor) {
            part.bias = y / a;
            return part;
        }
        const double d = xx + strength.ridge;
        const double determinant = a * d - x * x; // above 0, by the ridge
        part.bias = (y * d - x * xy) / determinant;
        part.factor = (a * xy - x * y) / determinant;
        return part;
    }
};

/// Where the factor begins: what the biases leave of the row that they fit worst, at one on average.
void start_factor(std::span<const TableEntry> entries, const Lines& rows, TableFit& fit)
{
    std::size_t worst = 0;
    double most = 0;
    for (std::size_t row = 0; row < fit.rows.size(); ++row) {
        double squares = 0;
        for (const std::size_t i : rows.at(row))
            squares += portable::square(entries[i].value - fit.at(row, entries[i].column));
        if (squares > most) {
            most = squares;
            worst = row;
        }
    }
    if (most <= 0) return;
    const double scale = std::sqrt(most / static_cast<double>(fit.rows[worst].count));
    std::vector<double> left(fit.columns.size());
    for (const std::size_t i : rows.at(worst))
        left[entries[i].column] = (entries[i].value - fit.at(worst, entries[i].column)) / scale;
    for (std::size_t column = 0; column < left.size(); ++column)
        fit.columns[column].factor = left[column];
}

/// One turn. @return how far the fit of an entry moved at most
double turn(std::span<const TableEntry> entries, const Lines& rows, const Lines& columns, FitStrength strength,
            TableFit& fit)
{
    double moved = 0;
    for (std::size_t row = 0; row < fit.rows.size(); ++row) {
        LineSums sums;
        for (const std::size_t i : rows.at(row)) {
            const FitPart& column = fit.columns[entries[i].column];
            sums.add(column.factor, entries[i].value - column.bias);
        }
        const FitPart before = std::exchange(fit.rows[row], sums.solve(0, strength));
        moved = std::max(moved, std::abs(before.bias - fit.rows[row].bias));
    }
    for (std::size_t column = 0; column < fit.columns.size(); ++column) {
        LineSums sums;
        for (const std::size_t i : columns.at(column)) {
            const FitPart& row = fit.rows[entries[i].row];
            sums.add(row.factor, entries[i].value - row.bias);
        }
        const FitPart before = std::exchange(fit.columns[column], sums.solve(strength.ridge, strength));
        moved = std::max(moved, std::abs(before.bias - fit.columns[column].bias));
    }
    return moved;
}

void settle(std::span<const TableEntry> entries, const Lines& rows, const Lines& columns, FitStrength strength,
            TableFit& fit)
{
    for (int i = 0; i < kMaxTurns; ++i) {
        if (turn(entries, rows, columns, strength, fit) < kStill) return;
    }
}

} // namespace

TableFit fit_table(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count,
                   FitStrength strength)
{
    const Lines rows(entries, row_count, &TableEntry::row);
    const Lines columns(entries, column_count, &TableEntry::column);
    TableFit fit{std::vector<FitPart>(row_count), std::vector<FitPart>(column_count)};
    settle(entries, rows, columns, {strength.ridge, false}, fit);
    if (!strength.has_factor) return fit;
    start_factor(entries, rows, fit);
    settle(entries, rows, columns, strength, fit);
    return fit;
}

FitPart fit_column(std::span<const TableEntry> entries, const TableFit& fit, FitStrength strength)
{
    LineSums sums;
    for (const TableEntry& entry : entries)
        sums.add(fit.rows[entry.row].factor, entry.value - fit.rows[entry.row].bias);
    return sums.solve(strength.ridge, strength);
}

std::vector<LeftOut> leave_out(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count,
                               FitStrength strength)
{
    const std::size_t parts = entries.size() <= kMaxOneByOne ? entries.size() : kParts;
    std::vector<LeftOut> left_out;
    std::vector<TableEntry> kept;
    for (std::size_t part = 0; part < parts; ++part) {
        kept.clear();
        // Diagonals of the table, so that no part takes a whole row or column.
        const auto is_in_part = [&](std::size_t i) {
            return (parts == entries.size() ? i : entries[i].row + entries[i].column) % parts == part;
        };
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!is_in_part(i)) kept.push_back(entries[i]);
        }
        const TableFit fit = fit_table(kept, row_count, column_count, strength);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const TableEntry& entry = entries[i];
            if (!is_in_part(i)) continue;
            const std::size_t in_row = fit.rows[entry.row].count;
            const std::size_t in_column = fit.columns[entry.column].count;
            if (in_row < 2 || in_column < 1) continue;
            left_out.push_back({entry.row, entry.value - fit.at(entry.row, entry.column),
                                std::sqrt(1 + 1 / static_cast<double>(in_row) + 1 / static_cast<double>(in_column))});
        }
    }
    return left_out;
}

} // namespace fathom
