#pragma once

/// Numbers of some 106 bits from pairs of doubles (Dekker, "A floating-point technique for extending the available
/// precision", Numerische Mathematik 18, 1971), for the parts of portable_math where a double is too short.
namespace fathom::portable {

/// A number in two parts, of which the second is below the first one's last place: some 106 bits.
struct Wide {
    double high{};
    double low{};
};

/// a + b without error; |a| ≥ |b|, or a is 0 (Dekker, 1971).
constexpr Wide ordered_sum(double a, double b)
{
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

/// The first 26 bits of it, and the rest (Veltkamp).
constexpr Wide split(double a)
{
    const double scaled = 0x1p27 * a + a;
    const double high = scaled - (scaled - a);
    return {high, a - high};
}

/// a · b without error (Dekker, 1971).
constexpr Wide product(double a, double b)
{
    const double whole = a * b;
    const Wide x = split(a);
    const Wide y = split(b);
    return {whole, ((x.high * y.high - whole) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

constexpr Wide product(Wide a, Wide b)
{
    const Wide first = product(a.high, b.high);
    return ordered_sum(first.high, first.low + (a.high * b.low + a.low * b.high));
}

constexpr Wide quotient(Wide a, double b)
{
    const double first = a.high / b;
    const Wide back = product(first, b);
    return ordered_sum(first, ((a.high - back.high) - back.low + a.low) / b);
}

/// |a| ≥ |b|
constexpr Wide ordered_sum(Wide a, Wide b)
{
    const Wide first = ordered_sum(a.high, b.high);
    return ordered_sum(first.high, first.low + (a.low + b.low));
}

/// a + b without error (Knuth).
constexpr Wide sum(double a, double b)
{
    const double whole = a + b;
    const double part = whole - a;
    return {whole, (a - (whole - part)) + (b - part)};
}

constexpr Wide sum(Wide a, Wide b)
{
    const Wide first = sum(a.high, b.high);
    return ordered_sum(first.high, first.low + (a.low + b.low));
}

} // namespace fathom::portable
