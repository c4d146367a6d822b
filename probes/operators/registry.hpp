#pragma once

#include "core/model/operator_manifest.hpp"
#include "probes/operators/operator.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace fathom::probes {

/// An operator that a task may use: its manifest and how to make it.
struct RegisteredOperator {
    OperatorManifest manifest;
    std::function<std::unique_ptr<ProbeOperator>(const Parameters& parameters, int threads)> make;
    std::function<double(const Parameters& parameters)> memory; ///< bytes
    /// Whether it can run on this machine and in this environment. It may also depend on the size: then its
    /// preparation says so.
    /// @error kUnavailable  why not, and what would change that.
    Result<void> (*available)(){};
};

/// All operators of this program, sorted by id. Made at first use; thread-safe.
const std::vector<RegisteredOperator>& registered_operators();

/// nullptr when this program does not have it.
const RegisteredOperator* find_operator(std::string_view id);

/// Tells every numerical library how many threads to use, at most. Never more than what
/// OPENBLAS_NUM_THREADS and OMP_NUM_THREADS ask for, each for its library: whoever set them meant it.
void limit_library_threads(int threads);

/// What OpenBLAS took this processor for ("SkylakeX"), and the core type that fits the instruction
/// set better, if there is one.
struct BlasCore {
    std::string used;
    std::string better; ///< empty when the choice fits
};
BlasCore blas_core();

} // namespace fathom::probes
