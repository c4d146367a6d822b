#include "core/base/portable_math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

namespace fathom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMin = std::numeric_limits<double>::denorm_min();
constexpr int kSamples = 20'000; ///< of each case

std::uint64_t bits(double value)
{
    return std::bit_cast<std::uint64_t>(value);
}

/// Numbers that are the same on every machine.
class Numbers {
  public:
    double between(double low, double high)
    {
        return low + (high - low) * (static_cast<double>(generator_() >> 11) * 0x1p-53);
    }
    double positive() { return std::bit_cast<double>(generator_() % 0x7ff0000000000000); }

  private:
    std::mt19937_64 generator_{1};
};

using Function = std::function<double(double)>;
using Argument = std::function<double(Numbers&)>;

Argument between(double low, double high)
{
    return [=](Numbers& numbers) { return numbers.between(low, high); };
}

struct Case {
    const char* name;
    Function function;
    Function library; ///< none where it is no better, or cannot be asked for the same
    Argument argument;
    std::uint64_t bits_of_all; ///< of the results for the first arguments, see fold()
};

std::vector<Case> cases()
{
    constexpr double kTwoPi = 6.283185307179586;
    const auto power = [](double exponent) { return [=](double x) { return portable::pow(x, exponent); }; };
    const auto library_power = [](double exponent) { return [=](double x) { return std::pow(x, exponent); }; };
    const auto positive = [](Numbers& numbers) { return numbers.positive(); };
    using Plain = double (*)(double);
    return {
        {"exp", portable::exp, Plain(std::exp), between(-746, 711), 0x2ec7653a45726dd3},
        {"exp near 0", portable::exp, Plain(std::exp), between(-1, 1), 0x5274ec6a1103262c},
        {"exp2", portable::exp2, Plain(std::exp2), between(-1076, 1025), 0x35af725dbe2bdbfe},
        {"expm1", portable::expm1, Plain(std::expm1), between(-3, 3), 0x951bb187b03fef5a},
        {"expm1 far", portable::expm1, Plain(std::expm1), between(-45, 45), 0x540d254e2bfc7501},
        {"log", portable::log, Plain(std::log), positive, 0xe1248a68a55e1d46},
        {"log near 1", portable::log, Plain(std::log), between(0.9, 1.1), 0x58239716428c0937},
        {"log2", portable::log2, Plain(std::log2), positive, 0xde9e943ad198cdc0},
        {"log2 near 1", portable::log2, Plain(std::log2), between(0.9, 1.1), 0xa0d3b515ecabc3e7},
        {"log10", portable::log10, Plain(std::log10), positive, 0x5fa828f7fb4a231e},
        {"log10 near 1", portable::log10, Plain(std::log10), between(0.9, 1.1), 0x3dcf807fa1807ccb},
        {"pow 1.7", power(1.7), library_power(1.7), between(0, 9), 0x6ccd12ff5c86bfa5},
        {"pow -0.3", power(-0.3), library_power(-0.3), positive, 0x2b0ffefdc50f7be7},
        {"10 to the power", [](double x) { return portable::pow(10, x); }, [](double x) { return std::pow(10, x); },
         between(-330, 310), 0x2f9f274f0ba9c71e},
        {"hypot", [](double x) { return portable::hypot(x, 3); }, [](double x) { return std::hypot(x, 3); },
         between(-9, 9), 0x3225113cdc2f49e5},
        // The library's angle is rounded before it is asked, so only angles that lose nothing by it are compared.
        {"cos", portable::cos_turns, [](double x) { return std::cos(kTwoPi * x); }, between(-0.1, 0.1),
         0x189e0f1b0b9c0363},
        {"sin", portable::sin_turns, [](double x) { return std::sin(kTwoPi * x); }, between(-0.1, 0.1),
         0xd740283e087764bd},
        {"erfc", portable::erfc, {}, between(-6, 27), 0xa199a851cea24c30},
        {"cos of a whole turn", portable::cos_turns, {}, between(-1, 1), 0x877fa1c05b08ce20},
        {"sin of many turns", portable::sin_turns, {}, between(-1e6, 1e6), 0xc1fa37915e0d7019},
    };
}

/// One number that changes when a bit of any of them changes (FNV-1a over words).
std::uint64_t fold(std::uint64_t before, double value)
{
    return (before ^ bits(value)) * 0x100000001b3U;
}

std::int64_t places_apart(double a, double b)
{
    return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

// The bits of many results were noted; a machine, compiler or option that gives others is not fit to repeat
// simulations of other machines.
TEST(PortableMath, GivesTheNotedBits)
{
    for (const Case& one : cases()) {
        Numbers numbers;
        std::uint64_t folded = 0xcbf29ce484222325;
        for (int i = 0; i < kSamples; ++i)
            folded = fold(folded, one.function(one.argument(numbers)));
        EXPECT_EQ(folded, one.bits_of_all) << one.name << std::hex << " 0x" << folded;
    }
}

TEST(PortableMath, IsWithinTwoPlacesOfTheLibrary)
{
    for (const Case& one : cases()) {
        if (!one.library) continue;
        Numbers numbers;
        std::int64_t most = 0;
        for (int i = 0; i < kSamples; ++i) {
            const double argument = one.argument(numbers);
            most = std::max(most, places_apart(one.function(argument), one.library(argument)));
        }
        EXPECT_LE(most, 2) << one.name;
    }
}

TEST(PortableMath, KnownValues)
{
    EXPECT_EQ(bits(portable::exp(1)), 0x4005bf0a8b145769U);
    EXPECT_EQ(bits(portable::exp(-20)), 0x3e21b48655f37267U);
    EXPECT_EQ(bits(portable::expm1(1e-10)), 0x3ddb7cdfd9dda4e3U);
    EXPECT_EQ(bits(portable::log(2)), 0x3fe62e42fefa39efU);
    EXPECT_EQ(bits(portable::log(10)), 0x40026bb1bbb55516U);
    EXPECT_EQ(bits(portable::pow(2, 0.5)), 0x3ff6a09e667f3bcdU);
    EXPECT_EQ(portable::pow(3, 5), 243);
    EXPECT_EQ(portable::pow(10, 15), 1e15);
    EXPECT_EQ(bits(portable::erfc(0.5)), 0x3fdeb02147ce245cU);
    EXPECT_EQ(bits(portable::erfc(-1)), 0x3ffd7bb3d3a08445U);
    EXPECT_EQ(bits(portable::erfc(10)), 0x36a7d8a7f2a8a2d0U);
    EXPECT_EQ(portable::hypot(3, 4), 5);
    EXPECT_EQ(portable::cos_turns(0), 1);
    EXPECT_EQ(portable::cos_turns(0.25), 0);
    EXPECT_EQ(portable::cos_turns(-0.5), -1);
    EXPECT_EQ(portable::sin_turns(0.25), 1);
    EXPECT_EQ(portable::sin_turns(-0.25), -1);
    EXPECT_EQ(portable::sin_turns(0x1p60), 0) << "whole turns";
    for (int exponent = -1074; exponent <= 1023; ++exponent) {
        EXPECT_EQ(portable::exp2(exponent), std::ldexp(1.0, exponent)) << exponent;
        EXPECT_EQ(portable::log2(std::ldexp(1.0, exponent)), exponent);
    }
    double power = 1;
    for (int exponent = 0; exponent <= 22; ++exponent, power *= 10) // beyond, powers of ten are rounded themselves
        EXPECT_EQ(portable::log10(power), exponent);
}

TEST(PortableMath, ExponentialsAtTheEnds)
{
    EXPECT_EQ(bits(portable::exp(-0.0)), bits(1));
    EXPECT_EQ(portable::exp(kInfinity), kInfinity);
    EXPECT_EQ(portable::exp(709.79), kInfinity);
    EXPECT_LT(portable::exp(709.78), kInfinity);
    EXPECT_EQ(bits(portable::exp(-kInfinity)), 0U);
    EXPECT_EQ(bits(portable::exp(-745.2)), 0U);
    EXPECT_EQ(portable::exp(-745.1), kMin);
    EXPECT_TRUE(std::isnan(portable::exp(kNaN)));
    EXPECT_EQ(portable::exp2(1024), kInfinity);
    EXPECT_EQ(bits(portable::exp2(-1076)), 0U);
    EXPECT_TRUE(std::isnan(portable::exp2(kNaN)));
    EXPECT_EQ(bits(portable::expm1(-0.0)), bits(-0.0));
    EXPECT_EQ(portable::expm1(kMin), kMin);
    EXPECT_EQ(portable::expm1(kInfinity), kInfinity);
    EXPECT_EQ(portable::expm1(-kInfinity), -1);
    EXPECT_EQ(portable::expm1(710), kInfinity);
    EXPECT_TRUE(std::isnan(portable::expm1(kNaN)));
}

TEST(PortableMath, LogarithmsAtTheEnds)
{
    EXPECT_EQ(bits(portable::log(1)), 0U);
    EXPECT_EQ(portable::log(0.0), -kInfinity);
    EXPECT_EQ(portable::log(-0.0), -kInfinity);
    EXPECT_EQ(portable::log(kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(portable::log(-1)));
    EXPECT_TRUE(std::isnan(portable::log(-kInfinity)));
    EXPECT_TRUE(std::isnan(portable::log(kNaN)));
    for (const auto function : {portable::log2, portable::log10}) {
        EXPECT_EQ(bits(function(1)), 0U);
        EXPECT_EQ(function(-0.0), -kInfinity);
        EXPECT_EQ(function(kInfinity), kInfinity);
        EXPECT_TRUE(std::isnan(function(-1)));
        EXPECT_TRUE(std::isnan(function(kNaN)));
    }
    EXPECT_EQ(portable::log(kMin), std::log(kMin));
    EXPECT_EQ(portable::log(std::numeric_limits<double>::max()), std::log(std::numeric_limits<double>::max()));
}

TEST(PortableMath, PowersAndAnglesAtTheEnds)
{
    const double values[] = {0.0,   -0.0,   1,      -1,   2,     -2,        3,          -3,
                             0.5,   -0.5,   1.5,    -1.5, 1e6,   -1e6,      0x1p53,     0x1.8p53,
                             1e300, -1e300, 1e-300, kMin, -kMin, kInfinity, -kInfinity, kNaN};
    for (const double base : values) {
        for (const double exponent : values) {
            const double expected = std::pow(base, exponent);
            const double power = portable::pow(base, exponent);
            if (std::isnan(expected))
                EXPECT_TRUE(std::isnan(power)) << base << " ^ " << exponent;
            else
                EXPECT_LE(places_apart(power, expected), 2) << base << " ^ " << exponent << " = " << power;
        }
    }
    EXPECT_EQ(portable::erfc(0), 1);
    EXPECT_EQ(portable::erfc(kInfinity), 0);
    EXPECT_EQ(portable::erfc(-kInfinity), 2);
    EXPECT_TRUE(std::isnan(portable::erfc(kNaN)));
    EXPECT_EQ(portable::hypot(kNaN, -kInfinity), kInfinity);
    EXPECT_EQ(portable::hypot(-kInfinity, kNaN), kInfinity);
    EXPECT_TRUE(std::isnan(portable::hypot(kNaN, 1)));
    EXPECT_EQ(portable::hypot(3e300, -4e300), 5e300);
    EXPECT_EQ(portable::hypot(0, -kMin), kMin);
    EXPECT_TRUE(std::isnan(portable::cos_turns(kInfinity)));
    EXPECT_TRUE(std::isnan(portable::sin_turns(kNaN)));
    EXPECT_EQ(bits(portable::sin_turns(-0.0)), bits(-0.0));
}

} // namespace
} // namespace fathom
