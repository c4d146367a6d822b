#pragma once

#include "core/decide/prediction/predict.hpp"

#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// `k=512,m=512` back to {"k": 512, "m": 512}: the inverse of parameters_key. What is no such text is left out.
Parameters parameters_of_key(std::string_view key);

/// Which measurement stands for an operator at a size.
struct WantedSize {
    std::string operator_id;
    std::string size_class;     ///< of the manifest; empty: only just these parameters
    std::string parameters_key; ///< preferred within the class
    bool is_of_memory{};        ///< what has no `cache_verdict` comes before what has one, whatever its size
};

/// The measurement of just these parameters; else the one of the size class whose work is nearest to theirs, the
/// newest of several, then that of the smaller run id. nullptr when the class was not measured.
/// @param manifest  of the operator; nullptr: only just these parameters are found.
/// @param measured  of one unit type, in any order.
const MeasuredOperator* find_measured(const WantedSize& wanted, const OperatorManifest* manifest,
                                      std::span<const MeasuredOperator> measured);

} // namespace fathom
