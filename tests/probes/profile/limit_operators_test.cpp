#include "probes/operators/manifests.hpp"
#include "probes/profile/limit_operators.hpp"

#include <gtest/gtest.h>

namespace fathom::profile {
namespace {

OperatorUse product(std::int64_t n, std::int64_t count, double share)
{
    OperatorUse use;
    use.id = "dgemm";
    use.parameters = {{"m", n}, {"n", n}, {"k", n}};
    use.count = count;
    use.share = share;
    return use;
}

/// Σ count × n^3: operations but for the factor.
double work(const std::vector<OperatorUse>& uses)
{
    double sum = 0;
    for (const OperatorUse& use : uses) {
        const double n = static_cast<double>(use.parameters.at("n"));
        sum += static_cast<double>(use.count) * n * n * n;
    }
    return sum;
}

TEST(LimitOperators, LeavesAFewAsTheyAre)
{
    std::vector<OperatorUse> uses{product(100, 3, 0.1), product(200, 2, 0.2)};
    std::vector<std::string> notes;

    limit_operators(uses, probes::operator_manifests(), 2, notes);

    EXPECT_EQ(uses.size(), 2U);
    EXPECT_TRUE(notes.empty());
}

TEST(LimitOperators, JoinsManyAndKeepsTheirWorkAndShares)
{
    std::vector<OperatorUse> uses;
    double shares = 0;
    for (std::int64_t n = 100; n < 300; ++n) {
        uses.push_back(product(n, 1000, 0.001 * static_cast<double>(n % 7)));
        shares += *uses.back().share;
    }
    const double before = work(uses);
    std::vector<std::string> notes;

    limit_operators(uses, probes::operator_manifests(), 20, notes);

    EXPECT_LE(uses.size(), 20U);
    EXPECT_NEAR(work(uses) / before, 1, 1e-3);
    double after = 0;
    for (const OperatorUse& use : uses)
        after += *use.share;
    EXPECT_NEAR(after, shares, 1e-9);
    EXPECT_EQ(notes.size(), 1U);
}

} // namespace
} // namespace fathom::profile
