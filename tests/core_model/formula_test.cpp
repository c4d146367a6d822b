#include "core/model/formula.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

double value_of(const std::string& formula, const Parameters& parameters = {})
{
    const Result<double> value = evaluate_formula(formula, parameters);
    EXPECT_TRUE(value) << formula << ": " << value.error().detail;
    return value ? *value : -1;
}

TEST(EvaluateFormula, KnowsArithmeticWithTheUsualPrecedence)
{
    EXPECT_DOUBLE_EQ(value_of("2*m*n*k", {{"m", 2}, {"n", 3}, {"k", 4}}), 48);
    EXPECT_DOUBLE_EQ(value_of("1 + 2*3^2 - 8/4"), 17);
    EXPECT_DOUBLE_EQ(value_of("(1 + 2)*3"), 9);
    EXPECT_DOUBLE_EQ(value_of("2^3^2"), 512);
    EXPECT_DOUBLE_EQ(value_of("-n^2", {{"n", 3}}), -9);
}

TEST(EvaluateFormula, KnowsItsFunctions)
{
    EXPECT_DOUBLE_EQ(value_of("5*n*log2(n)", {{"n", 1024}}), 51200);
    EXPECT_DOUBLE_EQ(value_of("ln(1)"), 0);
    EXPECT_DOUBLE_EQ(value_of("sqrt(n)", {{"n", 49}}), 7);
    EXPECT_DOUBLE_EQ(value_of("min(n, 3) + max(n, 3)", {{"n", 8}}), 11);
}

TEST(EvaluateFormula, HoldsLargeNumbers)
{
    EXPECT_DOUBLE_EQ(value_of("15*n^3", {{"n", 1000000}}), 1.5e19);
}

class WrongFormula : public testing::TestWithParam<const char*> {};

TEST_P(WrongFormula, IsRefused)
{
    const Result<double> value = evaluate_formula(GetParam(), {{"n", 0}});

    ASSERT_FALSE(value) << *value;
    EXPECT_EQ(value.error().code, Errc::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(All, WrongFormula,
                         testing::Values("", "2*", "2*x", "foo(n)", "2 n", "1/n", "log2(n)", "sqrt(n-1)", ")(", "n n",
                                         "\"text\""));

TEST(EvaluateFormula, RefusesLongOnes)
{
    std::string formula = "1";
    while (formula.size() <= 512)
        formula += "+1";

    EXPECT_FALSE(evaluate_formula(formula, {}));
}

TEST(ParametersKey, IsSortedByName)
{
    EXPECT_EQ(parameters_key({{"n", 2}, {"k", 3}, {"m", 1}}), "k=3,m=1,n=2");
    EXPECT_EQ(parameters_key({}), "");
}

} // namespace
} // namespace fathom
