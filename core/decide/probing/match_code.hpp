#pragma once

#include "core/decide/probing/code_mix.hpp"
#include "core/decide/probing/operator_code.hpp"

#include <span>
#include <string_view>

namespace fathom {

/// An operator that a loop resembles.
struct CodeMatch {
    std::string_view operator_id; ///< empty: there was nothing to compare with
    double similarity{};          ///< 0..1
};

/// Loops less alike than this have no operator: they go as what they seem to be bound by.
inline constexpr double kMinCodeSimilarity = 0.65;

/// How alike two loops are, 0..1: the part of their instructions that they have in common, those that are waited for
/// weighing more, of which a half is lost where they do a hundred times more or fewer operations for each byte.
/// Symmetric; 1 for a loop and itself, 0 where nothing was seen of either.
double code_similarity(const CodeMix& a, const CodeMix& b);

/// The nearest of some operators; of equally near ones the first by id.
CodeMatch nearest_operator(const CodeMix& loop, std::span<const OperatorCode> operators);

} // namespace fathom
