#pragma once

#include "core/model/probe_task.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// One kind of work that a program was seen to do at one size: a library call with its arguments (M3).
struct ObservedOperation {
    std::string symbol;                      ///< the entry point: "dgemm_", "fftw_execute"; empty if unknown
    std::string category;                    ///< "hpc", "ai", …; empty if unknown
    std::vector<std::string> argument_kinds; ///< "matrix_fp64", … as in OperatorSignature
    Parameters parameters;                   ///< by the names that the operator's manifest uses: m, n, k
    double operations{};                     ///< floating-point operations of one execution; 0 if unknown
    double bytes{};                          ///< least bytes moved by one execution; 0 if unknown
    std::int64_t count{1};                   ///< exact number of executions
    double share{};                          ///< of the program's run time, 0..1
};

/// What takes part in a similarity score, and how much, and where is searched first. Weights sum to 1.
struct MatchRule {
    double argument_weight{0.5};  ///< overlap of the argument kinds, as multisets
    double intensity_weight{0.3}; ///< closeness of operations per byte, on a log scale
    double category_weight{0.2};  ///< same category
    double threshold{0.6};        ///< a lower score is a miss
    double tie_margin{0.02};      ///< scores this close are a tie: reported, the smaller id is taken
    /// Of the operators that the program's job type is known to execute; searched where an operation's own category has
    /// nothing like it. Empty: nothing is known.
    std::vector<std::string> type_categories{};
};

/// What became of one observed operation.
struct OperationMatch {
    std::size_t observed{};        ///< index into the input
    std::string operator_id;       ///< empty: a miss
    double score{};                ///< 1 for an exact symbol; the best score seen for a miss
    bool is_exact{};               ///< matched by symbol
    std::vector<std::string> tied; ///< other operators that would have done as well, by id
    OperatorUse use;               ///< empty id for a miss; equivalent work: see match_operations
};

/// All of a program's operations against a library.
struct MatchReport {
    std::vector<OperationMatch> matches; ///< one for each observed operation, in the input's order
    double matched_share{};              ///< of run time, by operations that found an operator
    double missed_share{};               ///< of run time, by operations that did not
};

/// Finds for each observed operation the operator that stands for it (M3).
///
/// An operator that names the symbol always wins, whatever else it says. Otherwise operators of the same
/// category come first; if none of them reaches the threshold, those of the job type's categories, and only then all
/// others. The best score at or above the threshold is taken. The use that comes out does the same work: the operator's
/// parameters are the observed ones where they have the same names and lie in range, else the shape of the defaults
/// scaled to the observed work, and the count is scaled by the ratio of work. Exact matches keep their exact count. The
/// order of `observed` and of `library` does not matter.
MatchReport match_operations(std::span<const ObservedOperation> observed, std::span<const OperatorManifest> library,
                             const MatchRule& rule = {});

/// An entry point without what Fortran and interfaces of 64-bit integers add to its name: `DGEMM`, `dgemm_`,
/// `dgemm_64_` and `dgemm64_` are one.
std::string plain_symbol(std::string_view symbol);

/// The similarity of an observed operation to an operator, 0..1; 1 for an exact symbol.
double similarity(const ObservedOperation& observed, const OperatorManifest& manifest, const MatchRule& rule);

/// Parameters of the manifest's default shape, all scaled by one factor within their ranges, whose work
/// (operations, or bytes for operators without any) comes closest to `work`.
Parameters parameters_for_work(const OperatorManifest& manifest, double work);

} // namespace fathom
