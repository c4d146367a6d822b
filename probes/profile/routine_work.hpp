#pragma once

#include "core/decide/probing/match.hpp"
#include "probes/profile/counts_file.hpp"

#include <optional>
#include <span>

namespace fathom::profile {

/// Calls of one entry point with the same sizes, as read from the counts.
struct ObservedCalls {
    ObservedOperation operation;      ///< what the library is searched for
    std::int64_t calls{};             ///< exact
    std::int64_t batch{1};            ///< problems that each of them solves
    double seconds{};                 ///< spent in them
    bool is_serial{false};            ///< the program, not the library, decides how many threads compute them
    double similarity{1};             ///< how much of their time goes as the operator's does: product_part
    bool is_timed{true};              ///< false: too short to be timed exactly; `seconds` is an estimate
    std::vector<std::size_t> entries; ///< in the counts' table
};

/// What calls of a symbol with these dimensions are, as an operation: parameters, argument kinds, operations and bytes.
/// Unknown sizes leave parameters, operations and bytes out. Count and share are left to the caller.
///
/// Operation counts are the usual leading terms: LAPACK Working Note 41; Golub and Van Loan, Matrix Computations,
/// for eigenvalues and singular values, where they are estimates; 5 N log2 N for Fourier transforms.
ObservedOperation describe_calls(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions,
                                 std::int64_t& executions_a_call);

} // namespace fathom::profile
