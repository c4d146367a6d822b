#include "probes/operators/own_loops.hpp"
#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

/// The loops of operators that call no library, for each instruction set that this processor has.
namespace fathom::probes {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr double kNear = 1e-14;

std::vector<const OwnLoops*> usable_loops()
{
    std::vector<const OwnLoops*> usable;
    for (const OwnLoops& loops : all_own_loops()) {
        if (loops.is_usable()) usable.push_back(&loops);
    }
    return usable;
}

class OwnLoopsFor : public testing::TestWithParam<const OwnLoops*> {
  protected:
    const OwnLoops& loops_ = *GetParam();
    /// Fewer than vectors hold, as many, and some that are left over.
    const std::vector<std::size_t> sizes_{0, 1, 3, 4, 7, 8, 9, 16, 31, 1003};
};

/// Between −1 and 1, others for each `seed`.
std::vector<double> numbers(std::size_t size, double seed)
{
    std::vector<double> values(size);
    for (std::size_t i = 0; i < size; ++i)
        values[i] = std::sin(seed + 1.7 * static_cast<double>(i));
    return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted)
{
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], wanted[i], kNear) << "element " << i << " of " << found.size();
}

TEST_P(OwnLoopsFor, ComputeTheTriad)
{
    for (const std::size_t size : sizes_) {
        const std::vector<double> b = numbers(size, 1);
        const std::vector<double> c = numbers(size, 2);
        std::vector<double> a(size + 1, 7);

        loops_.triad(a.data(), b.data(), c.data(), 3, size);

        EXPECT_EQ(a.back(), 7) << "nothing behind the end";
        a.pop_back();
        std::vector<double> wanted(size);
        for (std::size_t i = 0; i < size; ++i)
            wanted[i] = b[i] + 3 * c[i];
        expect_near(a, wanted);
    }
}

TEST_P(OwnLoopsFor, AddUp)
{
    for (const std::size_t size : sizes_) {
        std::vector<double> sum = numbers(size, 1);
        const std::vector<double> more = numbers(size, 2);
        std::vector<double> wanted(size);
        std::transform(sum.begin(), sum.end(), more.begin(), wanted.begin(), std::plus<>());

        loops_.add(sum.data(), more.data(), size);

        EXPECT_EQ(sum, wanted) << "one addition each: the same to the bit";
    }
}

/// 40 rows of which row i has i entries, so that all rests of the unrolled loop occur.
struct Triangle {
    std::vector<std::int32_t> row_begin{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    static constexpr std::size_t kRows = 40;

    Triangle()
    {
        for (std::size_t row = 0; row < kRows; ++row) {
            for (std::size_t e = 0; e < row; ++e)
                columns.push_back(static_cast<std::int32_t>((7 * e + row) % kRows));
            row_begin.push_back(static_cast<std::int32_t>(columns.size()));
        }
        values = numbers(columns.size(), 3);
    }
    CsrMatrix matrix() const { return {row_begin.data(), columns.data(), values.data()}; }
    std::vector<double> times(const std::vector<double>& x) const
    {
        std::vector<double> y(kRows, 0);
        for (std::size_t row = 0; row < kRows; ++row) {
            for (auto e = static_cast<std::size_t>(row_begin[row]); e < static_cast<std::size_t>(row_begin[row + 1]);
                 ++e)
                y[row] += values[e] * x[static_cast<std::size_t>(columns[e])];
        }
        return y;
    }
};

TEST_P(OwnLoopsFor, MultiplySparseRows)
{
    const Triangle triangle;
    const std::vector<double> x = numbers(Triangle::kRows, 4);
    std::vector<double> y(Triangle::kRows, 0);
    std::vector<double> same(Triangle::kRows, 0);

    loops_.multiply(triangle.matrix(), {0, 11}, x.data(), y.data());
    loops_.multiply(triangle.matrix(), {11, Triangle::kRows}, x.data(), y.data());
    const double product = loops_.multiply_and_dot(triangle.matrix(), {0, Triangle::kRows}, x.data(), same.data());

    expect_near(y, triangle.times(x));
    EXPECT_EQ(same, y) << "rows do not depend on which others are computed with them";
    EXPECT_NEAR(product, dot(x, y), kNear * Triangle::kRows);
}

TEST_P(OwnLoopsFor, AdvanceAndTurnAsConjugateGradientsDo)
{
    for (const std::size_t size : sizes_) {
        std::vector<double> x = numbers(size, 1);
        std::vector<double> r = numbers(size, 2);
        std::vector<double> p = numbers(size, 3);
        const std::vector<double> q = numbers(size, 4);
        std::vector<double> wanted_x(size);
        std::vector<double> wanted_r(size);
        std::vector<double> wanted_p(size);
        for (std::size_t i = 0; i < size; ++i) {
            wanted_x[i] = x[i] + 0.3 * p[i];
            wanted_r[i] = r[i] - 0.3 * q[i];
            wanted_p[i] = wanted_r[i] + 0.7 * p[i];
        }

        const double rr = loops_.advance(0.3, p.data(), q.data(), x.data(), r.data(), size);
        loops_.turn(0.7, r.data(), p.data(), size);

        expect_near(x, wanted_x);
        expect_near(r, wanted_r);
        expect_near(p, wanted_p);
        EXPECT_NEAR(rr, dot(wanted_r, wanted_r), kNear * static_cast<double>(size + 1));
    }
}

#if defined(NDEBUG) // what is compiled without optimization contracts nothing
TEST_P(OwnLoopsFor, RoundOnceWhereTheProcessorMultipliesAndAddsInOneOperation)
{
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    const std::string set = loops_.instruction_set;
    const bool is_fused = set != "x86-64" && set != "x86-64-v2";
    const std::vector<double> b(16, -3.0);
    const std::vector<double> c(16, 1 + kEpsilon);
    std::vector<double> a(16);

    loops_.triad(a.data(), b.data(), c.data(), 3, a.size());

    // 3 + 3ε lies between two doubles, so that a product that is rounded by itself is another number.
    for (const double value : a)
        EXPECT_EQ(value == 3 * kEpsilon, is_fused) << set << ": " << value / kEpsilon << " ε";
}
#endif

INSTANTIATE_TEST_SUITE_P(All, OwnLoopsFor, testing::ValuesIn(usable_loops()), [](const auto& one) {
    std::string name = one.param->instruction_set;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

TEST(OwnLoops, AreThoseOfTheWidestInstructionSetThatTheProcessorHas)
{
    const std::vector<const OwnLoops*> usable = usable_loops();

    ASSERT_FALSE(usable.empty());
    EXPECT_TRUE(all_own_loops().front().is_usable());
    EXPECT_EQ(&own_loops(), usable.back());
}

TEST(OwnLoops, StandInResultsWithTheCompilerAndTheInstructionSet)
{
    EXPECT_THAT(own_loops_name(), HasSubstr(compiler_name() + " for " + own_loops().instruction_set));
    const std::vector<std::pair<const char*, Parameters>> of_own{
        {"stream_triad", {{"n", 1000}}},
        {"spmv", {{"rows", 1000}}},
        {"conjugate_gradient", {{"edge", 4}, {"iterations", 2}}},
        {"reduction", {{"n", 1000}}}};
    for (const auto& [id, parameters] : of_own) {
        const RegisteredOperator* const found = find_operator(id);
        ASSERT_NE(found, nullptr) << id;
        EXPECT_THAT(found->make(parameters, 1)->library(), EndsWith(own_loops_name())) << id;
    }
}

} // namespace
} // namespace fathom::probes
