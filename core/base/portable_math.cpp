#include "core/base/portable_math.hpp"

#include "core/base/wide_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fathom::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kFractionBits = 52;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

constexpr Wide kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr Wide kLog2OfE{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr Wide kLog10OfE{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr Wide kTwoPi{0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};

// ---- exponentials: x = (128 · exponent + i) · ln 2 / 128 + r, so eˣ = 2^exponent · 2^(i/128) · eʳ, |r| ≤ ln 2 / 256

constexpr int kPowerBits = 7;
constexpr int kPowers = 1 << kPowerBits;

struct PowerOfTwo {
    double value{};
    double rest{}; ///< what the rounding of value lost, of value
};

/// 2^(i/128)
constexpr std::array<PowerOfTwo, kPowers> make_powers()
{
    const Wide step{kLn2.high / kPowers, kLn2.low / kPowers};
    Wide ratio{1, 0}; // e^step by its series, from the last term on
    for (int n = 14; n > 0; --n) {
        ratio = quotient(product(ratio, step), n);
        ratio = ordered_sum(Wide{1, 0}, ratio);
    }
    std::array<PowerOfTwo, kPowers> powers{};
    Wide power{1, 0};
    for (PowerOfTwo& one : powers) {
        one = {power.high, power.low / power.high};
        power = product(power, ratio);
    }
    return powers;
}
constexpr std::array<PowerOfTwo, kPowers> kPowersOfTwo = make_powers();

/// Added to a number below 2⁵¹, leaves the nearest whole one in the last bits.
constexpr double kToWhole = 0x1.8p52;

/// A number of 128ths of a power of two, as number and as bits.
struct Steps {
    double count{};
    std::int64_t bits{};
};

Steps nearest_steps(double amount)
{
    const double shifted = amount + kToWhole;
    return {shifted - kToWhole, std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kToWhole)};
}

/// eʳ − 1 for |r| ≤ ln 2 / 256
double small_expm1(double r)
{
    const double square = r * r;
    return r + square * (1.0 / 2 + r * (1.0 / 6)) + square * square * (1.0 / 24 + r * (1.0 / 120));
}

double power_of_two(std::int64_t exponent)
{
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << kFractionBits);
}

/// 2^(steps/128) · eʳ
double exp_of(const Steps& steps, double r)
{
    const PowerOfTwo& power = kPowersOfTwo[static_cast<std::size_t>(steps.bits & (kPowers - 1))];
    const double more = power.rest + small_expm1(r);
    const std::int64_t exponent = steps.bits >> kPowerBits;
    if (exponent < -1021) return (power.value + power.value * more) * power_of_two(exponent + 1021) * 0x1p-1021;
    if (exponent > 1022) return (power.value + power.value * more) * power_of_two(exponent - 1) * 2;
    const double scale =
        std::bit_cast<double>(std::bit_cast<std::int64_t>(power.value) + exponent * (std::int64_t{1} << kFractionBits));
    return scale + scale * more;
}

constexpr double kStepsPerE = kPowers / kLn2.high;
constexpr double kStepHigh = 0x1.62e42fefap-1 / kPowers; ///< 34 bits, so that any count of them is exact
constexpr double kStepLow = (kLn2.high - 0x1.62e42fefap-1 + kLn2.low) / kPowers;

constexpr double kMaxExp = 710;  ///< beyond it, infinite
constexpr double kMinExp = -746; ///< below it, 0

/// e^(x + low), |x| small enough for steps to be counted
double exp_of(double x, double low)
{
    const Steps steps = nearest_steps(x * kStepsPerE);
    return exp_of(steps, ((x - steps.count * kStepHigh) - steps.count * kStepLow) + low);
}

// ---- logarithm: x = 2^exponent · z; ln x = exponent · ln 2 + ln c + ln(z/c), z in one of 128 intervals around c

constexpr int kIntervalBits = 7;
constexpr int kIntervals = 1 << kIntervalBits;
/// Bits of the least z, about 0.705; 1 comes to lie in the middle of an interval, where ln c is 0.
constexpr std::uint64_t kMinZ = 0x3fe6900000000000;
constexpr std::uint64_t kIntervalOfOne = (0x3ff0000000000000 - kMinZ) >> (kFractionBits - kIntervalBits);

struct Interval {
    double inverse{};  ///< 1/c, of 12 bits, so that products with half of a z are exact
    double log_high{}; ///< ln c, a multiple of 2⁻⁴²: sums with multiples of ln 2 are exact
    double log_low{};
};

/// ln a for a near 1, of few bits: 2 · artanh((a − 1) / (a + 1))
constexpr Wide series_log(double a)
{
    const Wide argument = quotient({a - 1, 0}, a + 1);
    const Wide square = product(argument, argument);
    Wide series{};
    for (int n = 35; n > 0; n -= 2)
        series = ordered_sum(quotient({1, 0}, n), product(series, square));
    const Wide half = product(argument, series);
    return {2 * half.high, 2 * half.low};
}

constexpr double to_multiple(double value, double unit)
{
    const double shift = kToWhole * unit;
    return (value + shift) - shift;
}

constexpr std::array<Interval, kIntervals> make_intervals()
{
    std::array<Interval, kIntervals> intervals{};
    for (std::uint64_t i = 0; i < kIntervals; ++i) {
        constexpr int kShift = kFractionBits - kIntervalBits;
        const auto middle = std::bit_cast<double>(kMinZ + (i << kShift) + (std::uint64_t{1} << (kShift - 1)));
        const double inverse = i == kIntervalOfOne ? 1 : to_multiple(1 / middle, 0x1p-12);
        const Wide log = series_log(inverse);
        const double high = to_multiple(-log.high, 0x1p-42);
        intervals[i] = {inverse, high, (-log.high - high) - log.low};
    }
    return intervals;
}
constexpr std::array<Interval, kIntervals> kLogIntervals = make_intervals();

constexpr double kLn2High = to_multiple(kLn2.high, 0x1p-42);
constexpr double kLn2Low = (kLn2.high - kLn2High) + kLn2.low;

/// ln x to some 68 bits; x positive and finite
Wide log_of(double x)
{
    std::int64_t exponent = 0;
    if (x < std::numeric_limits<double>::min()) {
        x *= 0x1p52;
        exponent = -52;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t above = bits - kMinZ;
    const Interval& interval = kLogIntervals[(above >> (kFractionBits - kIntervalBits)) & (kIntervals - 1)];
    const std::int64_t own_exponent = static_cast<std::int64_t>(above) >> kFractionBits;
    exponent += own_exponent;
    const std::uint64_t z_bits = bits - (static_cast<std::uint64_t>(own_exponent) << kFractionBits);
    const auto z = std::bit_cast<double>(z_bits);
    constexpr std::uint64_t kLowHalf = (1 << 21) - 1;
    const auto z_high = std::bit_cast<double>(z_bits & ~kLowHalf);

    // r + r_rest = z/c − 1 exactly, |r| < 0.0041
    const double r_high = z_high * interval.inverse - 1;
    const double r_low = (z - z_high) * interval.inverse;
    const double r = r_high + r_low;
    const double r_rest = (r_high - r) + r_low;

    const auto count = static_cast<double>(exponent);
    const Wide to_c = ordered_sum(count * kLn2High + interval.log_high, r);
    // r²/2, its first part exact
    const auto r_first = std::bit_cast<double>(std::bit_cast<std::uint64_t>(r) & ~((std::uint64_t{1} << 27) - 1));
    const double half_square = 0.5 * r_first * r_first;
    const double half_square_rest = 0.5 * (r + r_first) * (r - r_first);
    const Wide two_terms = ordered_sum(to_c.high, -half_square);
    const double square = r * r;
    const double terms =
        r * square *
        ((1.0 / 3 - r * (1.0 / 4)) + square * (1.0 / 5 - r * (1.0 / 6)) + square * square * (1.0 / 7 - r * (1.0 / 8)));
    const double low = terms - half_square_rest + (r_rest - r_rest * r) + two_terms.low + to_c.low +
                       (count * kLn2Low + interval.log_low);
    return ordered_sum(two_terms.high, low);
}

// ---- circle: an eighth of a turn to each side, |x| ≤ π/4; x + low is the angle

double small_sin(double x, double low)
{
    const double square = x * x;
    const double higher =
        (1.0 / 120 - square * (1.0 / 5040)) + square * square *
                                                  ((1.0 / 362'880 - square * (1.0 / 39'916'800)) +
                                                   square * square *
                                                       ((1.0 / 6'227'020'800 - square * (1.0 / 1'307'674'368'000)) +
                                                        square * square * (1.0 / 355'687'428'096'000)));
    const double cube = square * x;
    return x + (cube * (square * higher - 1.0 / 6) + low * (1 - 0.5 * square));
}

double small_cos(double x, double low)
{
    const double square = x * x;
    const double higher =
        (1.0 / 24 - square * (1.0 / 720)) +
        square * square *
            ((1.0 / 40'320 - square * (1.0 / 3'628'800)) + square * square *
                                                               ((1.0 / 479'001'600 - square * (1.0 / 87'178'291'200)) +
                                                                square * square * (1.0 / 20'922'789'888'000)));
    const double half = 0.5 * square;
    const double first = 1 - half;
    return first + (((1 - first) - half) + (square * square * higher - x * low));
}

/// sin 2π(turns + quarters/4)
double sin_of(double turns, std::int64_t quarters)
{
    if (!(std::abs(turns) < kInfinity)) return kNaN;
    if (std::abs(turns) > 0x1p48) turns = std::fmod(turns, 1.0); // exact
    const Steps steps = nearest_steps(4 * turns);
    const double part = turns - 0.25 * steps.count; // exact
    const Wide angle = product(part, kTwoPi.high);
    const double low = angle.low + part * kTwoPi.low;
    const std::int64_t quarter = (steps.bits + quarters) & 3;
    const double value = (quarter & 1) != 0 ? small_cos(angle.high, low) : small_sin(angle.high, low);
    return (quarter & 2) != 0 ? -value : value;
}

double log_to(const Wide& log_of_e, double x)
{
    if (!(x > 0)) return x == 0 ? -kInfinity : kNaN;
    if (x == kInfinity) return x;
    return product(log_of(x), log_of_e).high;
}

enum class Parity { kFraction, kEven, kOdd };

Parity parity(double value)
{
    const double size = std::abs(value);
    if (size >= 0x1p53) return Parity::kEven;
    if (size < 1) return size == 0 ? Parity::kEven : Parity::kFraction;
    if (std::trunc(size) != size) return Parity::kFraction;
    return (static_cast<std::int64_t>(size) & 1) != 0 ? Parity::kOdd : Parity::kEven;
}

/// base ≥ 0 and not 1, exponent not 0, neither NaN
double positive_pow(double base, double exponent)
{
    if (base == 0) return exponent < 0 ? kInfinity : 0;
    if (base == kInfinity) return exponent < 0 ? 0 : kInfinity;
    if (std::abs(exponent) == kInfinity) return (base > 1) == (exponent > 0) ? kInfinity : 0;
    const Wide log = log_of(base);
    const double near = exponent * log.high;
    if (near > kMaxExp) return kInfinity;
    if (near < kMinExp) return 0;
    if (std::abs(near) < 0x1p-60) return 1 + near; // splitting its parts might underflow
    const Wide power = product(exponent, log.high);
    return exp_of(power.high, power.low + exponent * log.low);
}

} // namespace

double exp(double x)
{
    if (!(x <= kMaxExp)) return x > kMaxExp ? kInfinity : kNaN;
    if (x < kMinExp) return 0;
    return exp_of(x, 0);
}

double exp2(double x)
{
    if (!(x < 1024)) return x >= 1024 ? kInfinity : kNaN;
    if (x < -1076) return 0;
    const Steps steps = nearest_steps(x * kPowers);
    return exp_of(steps, (x - steps.count * (1.0 / kPowers)) * kLn2.high);
}

double expm1(double x)
{
    constexpr double kNear = 0.04;
    if (x == 0) return x; // with its sign
    if (std::abs(x) < kNear) {
        const double higher = 1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x * (1.0 / 5040 + x * (1.0 / 40'320))));
        return x + x * x * (0.5 + x * (1.0 / 6 + x * higher));
    }
    constexpr double kAllOne = 40; // e⁴⁰ has no ones place, e⁻⁴⁰ is nothing to 1
    if (!(x <= kAllOne)) return exp(x);
    if (x < -kAllOne) return -1;
    const Steps steps = nearest_steps(x * kStepsPerE);
    const double r = (x - steps.count * kStepHigh) - steps.count * kStepLow;
    const PowerOfTwo& power = kPowersOfTwo[static_cast<std::size_t>(steps.bits & (kPowers - 1))];
    const double scale = power.value * power_of_two(steps.bits >> kPowerBits);
    const double more = scale * (power.rest + small_expm1(r));
    const Wide whole = scale > 1 ? ordered_sum(scale, -1) : ordered_sum(-1, scale);
    return whole.high + (whole.low + more);
}

double log(double x)
{
    if (!(x > 0)) return x == 0 ? -kInfinity : kNaN;
    if (x == kInfinity) return x;
    const Wide wide = log_of(x);
    return wide.high;
}

double log2(double x)
{
    return log_to(kLog2OfE, x);
}

double log10(double x)
{
    return log_to(kLog10OfE, x);
}

double pow(double base, double exponent)
{
    if (exponent == 0 || base == 1) return 1;
    if (base != base || exponent != exponent) return kNaN;
    if ((std::bit_cast<std::uint64_t>(base) & kSignBit) == 0) return positive_pow(base, exponent);
    const Parity kind = parity(exponent);
    if (kind == Parity::kFraction && base != 0 && base != -kInfinity) return kNaN;
    const double size = base == -1 ? 1 : positive_pow(-base, exponent);
    return kind == Parity::kOdd ? -size : size;
}

double hypot(double x, double y)
{
    if (std::abs(x) == kInfinity || std::abs(y) == kInfinity) return kInfinity;
    if (x != x || y != y) return kNaN;
    const double most = std::max(std::abs(x), std::abs(y));
    if (most > 0x1p500) return 0x1p600 * std::sqrt((x * 0x1p-600) * (x * 0x1p-600) + (y * 0x1p-600) * (y * 0x1p-600));
    if (most < 0x1p-450) return 0x1p-600 * std::sqrt((x * 0x1p600) * (x * 0x1p600) + (y * 0x1p600) * (y * 0x1p600));
    return std::sqrt(x * x + y * y);
}

double cos_turns(double turns)
{
    return sin_of(turns, 1);
}

double sin_turns(double turns)
{
    return turns == 0 ? turns : sin_of(turns, 0); // with its sign
}

} // namespace fathom::portable
