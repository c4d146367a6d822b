#include "core/decide/probing/operator_code.hpp"

#include <array>
#include <span>

namespace fathom {
namespace {

/// Measured once with `fathom-profile` on `fathom-probe` (clang 19.1 for x86-64-v4, zlib 1.2.13, glibc 2.36): the loops
/// that take most of each operator's time. tests/probes/profile/loops_test.py holds them against the loops of today's.
///
/// Not here: what is counted as library calls whatever a program is (products, transforms, convolutions), and
/// conjugate_gradient, whose loops are those of spmv and, over vectors, of stream_triad.
constexpr std::array<OperatorCode, 17> kOperatorCode{{
    // deflate: the longest match, then its surroundings
    {"compression", {.integer = 0.5, .indirect_load = 0.2, .branch = 0.3}, false},
    {"compression", {.integer = 0.377, .load = 0.263, .indirect_load = 0.07, .store = 0.211, .branch = 0.079}, false},
    // inflate: the tables of codes, then copying
    {"decompression", {.integer = 0.625, .indirect_load = 0.188, .branch = 0.187}, false},
    {"decompression",
     {.integer = 0.564, .load = 0.128, .indirect_load = 0.103, .store = 0.026, .branch = 0.179},
     false},
    {"decompression",
     {.integer = 0.588, .load = 0.059, .indirect_load = 0.088, .store = 0.118, .branch = 0.147},
     false},
    {"random_access", {.integer = 0.5, .indirect_load = 0.444, .branch = 0.056}},
    // merging, then cutting into runs
    {"sort", {.integer = 0.357, .load = 0.214, .store = 0.143, .branch = 0.286}},
    {"sort", {.integer = 0.577, .load = 0.038, .indirect_load = 0.131, .store = 0.154, .branch = 0.1}},
    {"sort", {.integer = 0.673, .load = 0.154, .store = 0.154, .branch = 0.019}},
    // rows by vectors, what is left of a row, both together
    {"spmv",
     {.floating = 0.167,
      .integer = 0.167,
      .indirect_load = 0.611,
      .branch = 0.055,
      .packed = 0.33,
      .flops_per_byte = 0.1}},
    {"spmv",
     {.floating = 0.143,
      .integer = 0.286,
      .load = 0.286,
      .indirect_load = 0.142,
      .branch = 0.143,
      .flops_per_byte = 0.1}},
    {"spmv",
     {.floating = 0.154,
      .integer = 0.333,
      .load = 0.077,
      .indirect_load = 0.282,
      .store = 0.026,
      .branch = 0.128,
      .packed = 0.33,
      .flops_per_byte = 0.125}},
    // the triad, then an update of vectors within conjugate_gradient
    {"stream_triad",
     {.floating = 0.211,
      .integer = 0.105,
      .load = 0.42,
      .store = 0.211,
      .branch = 0.053,
      .packed = 1,
      .flops_per_byte = 0.083}},
    {"stream_triad",
     {.floating = 0.273,
      .integer = 0.136,
      .load = 0.364,
      .store = 0.182,
      .branch = 0.045,
      .packed = 1,
      .flops_per_byte = 0.125}},
    // polynomials, reading their numbers, then a stretch of nothing else
    {"trigonometric", {.floating = 0.625, .integer = 0.125, .load = 0.25, .packed = 0.8, .flops_per_byte = 0.438}},
    {"trigonometric", {.floating = 0.667, .integer = 0.333, .packed = 0.5, .flops_per_byte = 2}},
    {"trigonometric", {.floating = 1, .packed = 1, .flops_per_byte = 2}},
}};

} // namespace

std::span<const OperatorCode> operator_code()
{
    return kOperatorCode;
}

} // namespace fathom
