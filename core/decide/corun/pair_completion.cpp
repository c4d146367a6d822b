#include "core/decide/corun/pair_completion.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/statistics/rank_one_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom {
namespace {

constexpr std::size_t kParts = 10;
constexpr std::size_t kMinPairs = 6; ///< below that nothing can be left out
constexpr std::array<FitStrength, 4> kStrengths{{{0.1, false}, {1, false}, {0.1, true}, {1, true}}};
/// By class of the kernel, then of the one beside it: unknown, compute, memory. What is unknown is the mean of both.
constexpr ClassShares kDefaultShares{{{0.5875, 0.575, 0.60}, {0.625, 0.55, 0.70}, {0.55, 0.60, 0.50}}};

std::size_t index_of(KernelClass kernel_class)
{
    return static_cast<std::size_t>(kernel_class);
}

/// Both directions of a pair; one where both kinds are the same.
void append_entries(const KnownPair& pair, std::vector<TableEntry>& entries)
{
    entries.push_back({pair.a, pair.b, portable::log(pair.a_share)});
    if (pair.a != pair.b) entries.push_back({pair.b, pair.a, portable::log(pair.b_share)});
}

std::vector<TableEntry> entries_of(std::span<const KnownPair> pairs)
{
    std::vector<TableEntry> entries;
    entries.reserve(2 * pairs.size());
    for (const KnownPair& pair : pairs)
        append_entries(pair, entries);
    return entries;
}

PairCompletion complete(std::span<const KnownPair> pairs, std::size_t kinds, FitStrength strength)
{
    const std::vector<TableEntry> entries = entries_of(pairs);
    const TableFit fit = fit_table(entries, kinds, kinds, strength);
    PairCompletion completion;
    for (const FitPart& part : fit.rows)
        completion.kernels.push_back({part.bias, part.factor, part.count});
    for (const FitPart& part : fit.columns)
        completion.besides.push_back({part.bias, part.factor, part.count});
    completion.least = std::numeric_limits<double>::infinity();
    for (const KnownPair& pair : pairs) {
        completion.least = std::min({completion.least, pair.a_share, pair.b_share});
        completion.most = std::max({completion.most, pair.a_share, pair.b_share});
    }
    return completion;
}

/// Squares of ln(predicted / measured) over what was left out.
struct Squares {
    double class_average{};
    double completion{};
    std::size_t entries{};
};

void judge(std::span<const KnownPair> left_out, const ClassShares& shares, const PairCompletion& completion,
           std::span<const KernelClass> classes, Squares& squares)
{
    std::vector<TableEntry> entries = entries_of(left_out);
    for (const TableEntry& entry : entries) {
        const std::optional<double> completed = completion.share(entry.row, entry.column);
        if (!completed) continue;
        const double average = shares[index_of(classes[entry.row])][index_of(classes[entry.column])];
        squares.class_average += portable::square(portable::log(average) - entry.value);
        squares.completion += portable::square(portable::log(*completed) - entry.value);
        ++squares.entries;
    }
}

std::optional<HeldOutErrors> held_out(std::span<const KnownPair> pairs, std::span<const KernelClass> classes,
                                      FitStrength strength)
{
    if (pairs.size() < kMinPairs) return std::nullopt;
    Squares squares;
    std::vector<KnownPair> kept;
    std::vector<KnownPair> left_out;
    for (std::size_t part = 0; part < kParts; ++part) {
        kept.clear();
        left_out.clear();
        for (std::size_t i = 0; i < pairs.size(); ++i)
            (i % kParts == part ? left_out : kept).push_back(pairs[i]);
        if (left_out.empty()) continue;
        judge(left_out, average_by_class(kept, classes), complete(kept, classes.size(), strength), classes, squares);
    }
    if (squares.entries == 0) return std::nullopt;
    const auto count = static_cast<double>(squares.entries);
    return HeldOutErrors{std::sqrt(squares.class_average / count), std::sqrt(squares.completion / count),
                         squares.entries};
}

} // namespace

const ClassShares& default_class_shares()
{
    return kDefaultShares;
}

ClassShares average_by_class(std::span<const KnownPair> pairs, std::span<const KernelClass> classes)
{
    ClassShares sums = default_class_shares();
    ClassShares counts{};
    const auto add = [&](std::size_t kind, std::size_t beside, double share) {
        sums[index_of(classes[kind])][index_of(classes[beside])] += share;
        counts[index_of(classes[kind])][index_of(classes[beside])] += 1;
    };
    for (const KnownPair& pair : pairs) {
        add(pair.a, pair.b, pair.a_share);
        if (pair.a != pair.b) add(pair.b, pair.a, pair.b_share);
    }
    for (std::size_t i = 0; i < kKernelClasses; ++i) {
        for (std::size_t j = 0; j < kKernelClasses; ++j)
            sums[i][j] /= 1 + counts[i][j];
    }
    return sums;
}

std::optional<double> PairCompletion::share(std::size_t kind, std::size_t beside) const
{
    if (kind >= kernels.size() || beside >= besides.size()) return std::nullopt;
    const Part& kernel = kernels[kind];
    const Part& other = besides[beside];
    if (kernel.count == 0 || other.count == 0) return std::nullopt;
    return std::clamp(portable::exp(kernel.bias + other.bias + kernel.factor * other.factor), least, most);
}

PairFit fit_pairs(std::span<const KnownPair> pairs, std::span<const KernelClass> classes)
{
    PairFit fit;
    fit.class_shares = average_by_class(pairs, classes);
    if (pairs.empty()) return fit;
    FitStrength best = kStrengths.front();
    for (const FitStrength& strength : kStrengths) {
        const std::optional<HeldOutErrors> errors = held_out(pairs, classes, strength);
        if (!errors || (fit.errors && errors->completion >= fit.errors->completion)) continue;
        fit.errors = errors;
        best = strength;
    }
    fit.completion = complete(pairs, classes.size(), best);
    return fit;
}

} // namespace fathom
