#pragma once

#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/rank_one_fit.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What an operator would take where it was never measured.
namespace fathom {

/// The measurements of one unit type.
struct MeasuredUnitType {
    std::string unit_type; ///< id
    std::span<const MeasuredOperator> measured;
};

/// An estimate from other unit types.
struct OperatorEstimate {
    double execution_s{};
    double deviation{};        ///< of ln(actual / execution_s), from leaving known entries out
    std::int64_t like_count{}; ///< unit types that it rests on
};

/// One entry of the table that was estimated.
struct EstimatedOperator {
    std::string operator_id;
    std::string parameters_key;
    std::string unit_type; ///< id
    OperatorEstimate estimate;
};

/// Rows that estimates are made for at most, and a set of them.
inline constexpr std::size_t kMaxEstimateRows = 512;
using EstimateRowBits = std::array<std::uint64_t, kMaxEstimateRows / 64>;

/// All that estimates are computed with.
struct OperatorEstimateTable {
    std::vector<std::pair<std::string, std::string>> rows; ///< operator and parameters, in order, each once
    std::vector<std::string> columns;                      ///< ids of unit types, in order, each once
    TableFit fit;                                          ///< with a part for each of them
    std::vector<double> deviations;                        ///< by row
    std::vector<EstimateRowBits> like;                     ///< by row: those that some unit type was measured with, too
    std::vector<EstimateRowBits> measured_at;              ///< by column
};

/// Fills the gaps of the table ln(time) of (operator and size) × unit type: unit types that were alike on the operators
/// that both were measured with are taken to be alike on the others (collaborative filtering; Paragon, Delimitrou and
/// Kozyrakis, ASPLOS 2013, does so for whole programs). One factor and two biases are fitted by alternating ridge
/// regression, whose strength is chosen by leaving known entries out; with fewer than two unit types that were measured
/// with the operator, or none in common, there is no estimate.
/// Immutable; made once per snapshot.
class OperatorEstimates {
  public:
    OperatorEstimates() = default;
    explicit OperatorEstimates(std::span<const MeasuredUnitType> unit_types);
    /// Estimates that are these, and none else: for a decision that is made again.
    static OperatorEstimates from(std::span<const EstimatedOperator> entries);
    /// So that the same estimates can be made again. Of those that are rebuilt from entries it is empty.
    OperatorEstimateTable table() const;
    static OperatorEstimates from(const OperatorEstimateTable& table);

    /// Empty where too little is known. Where it was measured this is not asked.
    std::optional<OperatorEstimate> find(std::string_view operator_id, std::string_view parameters_key,
                                         std::string_view unit_type) const;

  private:
    struct Model;
    std::shared_ptr<const Model> model_;
};

} // namespace fathom
