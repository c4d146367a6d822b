#pragma once

#include <cstddef>
#include <string>

namespace fathom::probes {

/// What sizes must be a multiple of: the widest vector of doubles.
constexpr std::size_t kVectorMathMultiple = 8;

/// out[i] = sin(in[i]) and cos(in[i]) by the vector functions of the C library, as wide as this processor
/// has them: the calls that a compiler makes of a loop over sin. Where the C library has none, one by one.
/// @param size  a multiple of kVectorMathMultiple; the arrays do not overlap.
void vector_sin(const double* in, double* out, std::size_t size);
void vector_cos(const double* in, double* out, std::size_t size);

/// "glibc 2.36 libmvec AVX-512"
std::string vector_math_name();

} // namespace fathom::probes
