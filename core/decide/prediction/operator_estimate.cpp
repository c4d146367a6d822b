#include "core/decide/prediction/operator_estimate.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/statistics/rank_one_fit.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace fathom {
namespace {

/// What is used at most, so that a large network's estimates are made within a second: of sizes those that most unit
/// types were measured with.
constexpr std::size_t kMaxRows = kMaxEstimateRows;
/// Unit types that rows are fitted to; the others are placed among them one by one.
constexpr std::size_t kMaxFitted = 1000;
/// Rows and columns that the strength of the ridge is chosen with.
constexpr std::size_t kMaxJudged = 100;

constexpr std::array<double, 4> kRidges{0.01, 0.1, 0.5, 2};
/// Of ln(actual / estimate) before errors tell, as if four had.
constexpr double kPriorDeviation = 0.5;
constexpr double kPriorErrors = 4;
/// An error beyond so many deviations counts as that: one wild entry does not make all others unsure.
constexpr double kWildDeviations = 3;

using Size = std::pair<std::string_view, std::string_view>; ///< operator and parameters

struct SizeHash {
    std::size_t operator()(const Size& size) const
    {
        const std::hash<std::string_view> hash;
        return hash(size.first) * 31 + hash(size.second);
    }
};

/// A set of rows.
class RowSet {
  public:
    void insert(std::size_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
    void insert(const RowSet& other)
    {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] |= other.words_[i];
    }
    RowSet() = default;
    explicit RowSet(const EstimateRowBits& words) : words_(words) {}
    const EstimateRowBits& words() const { return words_; }
    bool meets(const RowSet& other) const
    {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if ((words_[i] & other.words_[i]) != 0) return true;
        }
        return false;
    }

  private:
    EstimateRowBits words_{};
};

bool is_measured(const MeasuredOperator& measured)
{
    return std::isfinite(measured.median_s) && measured.median_s > 0;
}

/// The sizes that at least two unit types were measured with, at most kMaxRows, in order of name.
std::vector<Size> choose_rows(std::span<const MeasuredUnitType> unit_types)
{
    std::unordered_map<Size, std::size_t, SizeHash> counts;
    for (const MeasuredUnitType& unit_type : unit_types) {
        for (const MeasuredOperator& measured : unit_type.measured) {
            if (is_measured(measured)) ++counts[{measured.operator_id, measured.parameters_key}];
        }
    }
    std::vector<std::pair<std::size_t, Size>> found;
    for (const auto& [size, count] : counts) {
        if (count > 1) found.emplace_back(count, size);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (found.size() > kMaxRows) found.resize(kMaxRows);
    std::vector<Size> rows;
    for (const auto& [count, size] : found)
        rows.push_back(size);
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Every so manieth of the entries' rows and columns, so that at most kMaxJudged of each are left.
std::vector<TableEntry> thin_out(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count)
{
    const std::size_t row_step = (row_count + kMaxJudged - 1) / kMaxJudged;
    const std::size_t column_step = (column_count + kMaxJudged - 1) / kMaxJudged;
    std::vector<TableEntry> left;
    for (const TableEntry& entry : entries) {
        if (entry.row % row_step == 0 && entry.column % column_step == 0)
            left.push_back({entry.row / row_step * row_step, entry.column / column_step, entry.value});
    }
    return left;
}

double mean_error(const std::vector<LeftOut>& left_out)
{
    double sum = 0;
    for (const LeftOut& one : left_out)
        sum += std::abs(one.error);
    return left_out.empty() ? 0 : sum / static_cast<double>(left_out.size());
}

struct Judged {
    FitStrength strength;
    std::vector<LeftOut> left_out;
};

/// The strength with the least mean error of entries left out; of equals the one that holds back more.
Judged choose_strength(std::span<const TableEntry> entries, std::size_t row_count, std::size_t column_count)
{
    Judged best;
    double least = 0;
    bool is_first = true; // stays where nothing can be left out
    for (const bool has_factor : {false, true}) {
        for (auto ridge = kRidges.rbegin(); ridge != kRidges.rend(); ++ridge) {
            const FitStrength strength{*ridge, has_factor};
            std::vector<LeftOut> left_out = leave_out(entries, row_count, column_count, strength);
            const double error = mean_error(left_out);
            if (!is_first && error >= least * (1 - 1e-6)) continue;
            is_first = false;
            least = error;
            best = {strength, std::move(left_out)};
        }
    }
    return best;
}

/// How far estimates of each row are off, for a scale of one (LeftOut): its own errors, shrunk towards those of all.
std::vector<double> find_deviations(const std::vector<LeftOut>& left_out, std::size_t row_count)
{
    std::vector<double> all;
    for (const LeftOut& one : left_out)
        all.push_back(std::abs(one.error) / one.scale);
    std::sort(all.begin(), all.end());
    const auto count = static_cast<double>(all.size());
    const double own = all.empty() ? 0 : quantile(all, 0.8) / kWidthOf80Percent;
    const double common =
        std::sqrt((count * own * own + kPriorErrors * kPriorDeviation * kPriorDeviation) / (count + kPriorErrors));
    std::vector<double> squares(row_count, kPriorErrors * common * common);
    std::vector<double> counts(row_count, kPriorErrors);
    for (const LeftOut& one : left_out) {
        const double error = std::min(std::abs(one.error) / one.scale, kWildDeviations * common);
        squares[one.row] += error * error;
        counts[one.row] += 1;
    }
    std::vector<double> deviations(row_count);
    for (std::size_t row = 0; row < row_count; ++row)
        deviations[row] = std::sqrt(squares[row] / counts[row]);
    return deviations;
}

} // namespace

struct OperatorEstimates::Model {
    std::map<std::tuple<std::string, std::string>, std::size_t, std::less<>> rows; ///< by operator and parameters
    std::map<std::string, std::size_t, std::less<>> columns;                       ///< by unit type
    TableFit fit;
    std::vector<double> deviations;  ///< by row
    std::vector<RowSet> like;        ///< by row: those that some unit type was measured with, too
    std::vector<RowSet> measured_at; ///< by column
    /// Estimates that were rebuilt.
    std::map<std::tuple<std::string, std::string, std::string>, OperatorEstimate, std::less<>> given;

    Model() = default;
    explicit Model(std::span<const MeasuredUnitType> unit_types);
    void fit_entries(const std::vector<TableEntry>& entries);
    std::optional<OperatorEstimate> find(std::size_t row, std::size_t column) const;
};

OperatorEstimates::Model::Model(std::span<const MeasuredUnitType> unit_types)
{
    const std::vector<Size> sizes = choose_rows(unit_types);
    std::unordered_map<Size, std::size_t, SizeHash> row_of;
    for (std::size_t row = 0; row < sizes.size(); ++row) {
        row_of[sizes[row]] = row;
        rows.emplace(std::tuple(sizes[row].first, sizes[row].second), row);
    }
    std::map<std::string_view, std::span<const MeasuredOperator>> by_name; // so that their order does not matter
    for (const MeasuredUnitType& unit_type : unit_types)
        by_name[unit_type.unit_type] = unit_type.measured;
    std::vector<TableEntry> entries;
    measured_at.resize(by_name.size());
    for (const auto& [name, measured] : by_name) {
        const std::size_t column = columns.size();
        columns.emplace(name, column);
        std::map<std::size_t, double> values;
        for (const MeasuredOperator& one : measured) {
            const auto row = row_of.find({one.operator_id, one.parameters_key});
            if (row != row_of.end() && is_measured(one)) values.emplace(row->second, portable::log(one.median_s));
        }
        for (const auto& [row, value] : values) {
            entries.push_back({row, column, value});
            measured_at[column].insert(row);
        }
    }
    like.resize(sizes.size());
    for (const TableEntry& entry : entries)
        like[entry.row].insert(measured_at[entry.column]);
    fit_entries(entries);
}

void OperatorEstimates::Model::fit_entries(const std::vector<TableEntry>& entries)
{
    const std::vector<TableEntry> judged = thin_out(entries, rows.size(), columns.size());
    const Judged best = choose_strength(judged, rows.size(), columns.size());
    deviations = find_deviations(best.left_out, rows.size());
    const std::size_t step = (columns.size() + kMaxFitted - 1) / kMaxFitted;
    if (step <= 1) {
        fit = fit_table(entries, rows.size(), columns.size(), best.strength);
        return;
    }
    std::vector<TableEntry> fitted;
    for (const TableEntry& entry : entries) {
        if (entry.column % step == 0) fitted.push_back({entry.row, entry.column / step, entry.value});
    }
    fit = fit_table(fitted, rows.size(), kMaxFitted, best.strength);
    fit.columns.assign(columns.size(), {});
    std::vector<TableEntry> own;
    for (std::size_t i = 0; i < entries.size(); ++i) { // in order of column
        own.push_back(entries[i]);
        if (i + 1 < entries.size() && entries[i + 1].column == entries[i].column) continue;
        std::erase_if(own, [&](const TableEntry& entry) { return fit.rows[entry.row].count == 0; });
        fit.columns[entries[i].column] = fit_column(own, fit, best.strength);
        own.clear();
    }
}

std::optional<OperatorEstimate> OperatorEstimates::Model::find(std::size_t row, std::size_t column) const
{
    const FitPart& size = fit.rows[row];
    const FitPart& unit_type = fit.columns[column];
    if (size.count < 2 || unit_type.count < 1 || !like[row].meets(measured_at[column])) return {};
    const double scale = std::sqrt(1 + 1 / static_cast<double>(size.count) + 1 / static_cast<double>(unit_type.count));
    return OperatorEstimate{portable::exp(fit.at(row, column)), deviations[row] * scale,
                            static_cast<std::int64_t>(size.count)};
}

OperatorEstimates::OperatorEstimates(std::span<const MeasuredUnitType> unit_types)
    : model_(std::make_shared<const Model>(unit_types))
{
}

OperatorEstimates OperatorEstimates::from(std::span<const EstimatedOperator> entries)
{
    auto model = std::make_shared<Model>();
    for (const EstimatedOperator& one : entries)
        model->given[{one.operator_id, one.parameters_key, one.unit_type}] = one.estimate;
    OperatorEstimates estimates;
    estimates.model_ = std::move(model);
    return estimates;
}

OperatorEstimateTable OperatorEstimates::table() const
{
    OperatorEstimateTable table;
    if (!model_) return table;
    for (const auto& [size, row] : model_->rows)
        table.rows.emplace_back(std::get<0>(size), std::get<1>(size));
    for (const auto& [name, column] : model_->columns)
        table.columns.push_back(name);
    table.fit = model_->fit;
    table.deviations = model_->deviations;
    for (const RowSet& rows : model_->like)
        table.like.push_back(rows.words());
    for (const RowSet& rows : model_->measured_at)
        table.measured_at.push_back(rows.words());
    return table;
}

OperatorEstimates OperatorEstimates::from(const OperatorEstimateTable& table)
{
    auto model = std::make_shared<Model>();
    // In order, as the maps have them.
    for (const auto& [operator_id, parameters] : table.rows)
        model->rows.emplace(std::tuple(operator_id, parameters), model->rows.size());
    for (const std::string& unit_type : table.columns)
        model->columns.emplace(unit_type, model->columns.size());
    model->fit = table.fit;
    model->deviations = table.deviations;
    for (const EstimateRowBits& bits : table.like)
        model->like.emplace_back(bits);
    for (const EstimateRowBits& bits : table.measured_at)
        model->measured_at.emplace_back(bits);
    OperatorEstimates estimates;
    estimates.model_ = std::move(model);
    return estimates;
}

std::optional<OperatorEstimate> OperatorEstimates::find(std::string_view operator_id, std::string_view parameters_key,
                                                        std::string_view unit_type) const
{
    if (!model_) return {};
    if (const auto given = model_->given.find(std::tuple(operator_id, parameters_key, unit_type));
        given != model_->given.end())
        return given->second;
    const auto row = model_->rows.find(std::tuple(operator_id, parameters_key));
    const auto column = model_->columns.find(unit_type);
    if (row == model_->rows.end() || column == model_->columns.end()) return {};
    return model_->find(row->second, column->second);
}

} // namespace fathom
