#pragma once

#include "core/decide/corun/kernel.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Throughput of pairs that never ran together, from those that did.
namespace fathom {

/// What a pair kept of its speed alone; the same kind twice has both values equal.
struct KnownPair {
    std::size_t a{}; ///< kind, an index
    std::size_t b{};
    double a_share{}; ///< normalized IPC of a beside b, above 0
    double b_share{};
};

/// Normalized IPC by the classes of a kernel and of the one beside it.
using ClassShares = std::array<std::array<double, kKernelClasses>, kKernelClasses>;

/// Before anything was measured: compute beside memory 0.70 + 0.60, compute beside compute 0.55 twice, memory beside
/// memory 0.50 twice, in the order of C3; an unknown class lies between both. No measurements, an order only.
const ClassShares& default_class_shares();

/// Means of what was measured by classes; the default counts as one measurement.
ClassShares average_by_class(std::span<const KnownPair> pairs, std::span<const KernelClass> classes);

/// Unknown entries of the table of normalized IPC.
struct PairCompletion {
    /// ln share ≈ a bias for the kernel + a bias for the one beside it + a product of two factors.
    struct Part {
        double bias{};
        double factor{};
        std::size_t count{}; ///< known entries
    };
    std::vector<Part> kernels; ///< by kind
    std::vector<Part> besides; ///< by kind
    double least{};            ///< of all that is known
    double most{};

    /// Empty where one of both was never measured with any.
    std::optional<double> share(std::size_t kind, std::size_t beside) const;
};

/// How far off each way was for pairs that were left out, as root mean square of ln(predicted / measured).
struct HeldOutErrors {
    double class_average{};
    double completion{};
    std::size_t entries{}; ///< that were predicted both ways; two of a pair
};

/// Both ways and their errors.
struct PairFit {
    ClassShares class_shares = default_class_shares();
    PairCompletion completion;
    std::optional<HeldOutErrors> errors; ///< empty: too few pairs to leave some out
};

/// Fits both. Errors come from leaving out each tenth of the pairs (of a pair both directions); how strongly the
/// completion is held back is chosen by them. Same pairs in the same order, same fit.
/// @param classes  by kind; no pair names a kind beyond them.
PairFit fit_pairs(std::span<const KnownPair> pairs, std::span<const KernelClass> classes);

} // namespace fathom
