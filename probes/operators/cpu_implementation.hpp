#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/operator.hpp"

#include <memory>
#include <span>
#include <string_view>

/// An operator on CPU cores is the file cpu.cpp of a folder probes/operators/<name>, which defines
/// `CpuImplementation <name>_on_cpu()`. The build finds it by the folder (cmake/FathomOperators.cmake).
namespace fathom::probes {

/// How to make an operator. Parameters must be complete and within the manifest's ranges; `threads` is at least 1.
struct CpuImplementation {
    std::string_view id{}; ///< the folder's name: set by the build
    std::unique_ptr<ProbeOperator> (*make)(const Parameters& parameters, int threads){};
    double (*memory)(const Parameters& parameters){}; ///< bytes that it needs, with its check
    /// The reason when it can run nowhere on this machine, or in this environment.
    /// @error kUnavailable
    Result<void> (*available)() = available_everywhere;
    /// In programs it is the program, not a library, that decides how many threads compute it: its own loops, FFTW's
    /// transforms. On units of several cores it is measured with one thread, too.
    bool has_program_threads{};
};

/// Of all folders, sorted by id. Generated.
std::span<const CpuImplementation> cpu_implementations();

} // namespace fathom::probes
