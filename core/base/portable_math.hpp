#pragma once

#include "core/base/portable_erfc.hpp"

/// Elementary functions that give the same bits on every machine. IEEE 754 fixes +, −, ×, ÷ and the square root, but
/// not these: those of the C library differ by its version and by what the processor can do. Errors below, in units in
/// the last place, were measured against libquadmath on 10⁷ random arguments of each range of interest. NaN, infinities
/// and zeros go in and come out as the C standard has it (Annex F); no errno, no exceptions. Everything that uses them
/// must be compiled without contraction of a·b + c, as all of ours is.
namespace fathom::portable {

/// eˣ; error below 0.52, 0.76 where the result is subnormal. Reduced by a table of 2^(i/128), as in Tang, "Table-driven
/// implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15 (1989).
double exp(double x);
/// 2ˣ; error the same, whole numbers exact.
double exp2(double x);
/// eˣ − 1, exact also near 0; error below 0.8.
double expm1(double x);

/// Natural logarithm; error below 0.501. Reduced by a table of ln c, with both parts of the sum kept, as in Tang,
/// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16 (1990).
double log(double x);
/// Logarithms to base 2 and 10; error below 0.501, whole for powers of the base.
double log2(double x);
double log10(double x);

/// x · x, as it is rounded by IEEE 754.
constexpr double square(double x)
{
    return x * x;
}

/// base^exponent; error below 0.52, 0.76 where it is subnormal.
double pow(double base, double exponent);

/// √(x² + y²) without overflow on the way; error below 1.2.
double hypot(double x, double y);

/// cos 2πt and sin 2πt; error below 0.8. In turns, because then the angle is reduced exactly.
double cos_turns(double turns);
double sin_turns(double turns);

} // namespace fathom::portable
