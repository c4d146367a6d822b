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
                                         "\"text\"", "(1", "1)", "min(", ".", "1.2.3", "2e", "0x10", "n(1)"));

// All of these mean something to the parser behind, and nothing in a manifest.
INSTANTIATE_TEST_SUITE_P(MoreThanAFormula, WrongFormula,
                         testing::Values("sin(1)", "exp(1)", "rnd(1)", "_pi", "_e", "n = 5", "n > 0", "1 == 1",
                                         "1 ? 2 : 3", "1 && 1", "1, 2", "(1, 2)", "sqrt(1, 4)", "sum(1, 2)",
                                         "min(1, (2, 3))", "!1", "log2", "min", "min 1", "1 \n+ 1", "9^9^9^9",
                                         "1e308*10"));

TEST(EvaluateFormula, NamesWhatItDoesNotKnow)
{
    EXPECT_NE(evaluate_formula("2*sin(n)", {{"n", 1}}).error().detail.find("it knows no \"sin\""), std::string::npos);
    EXPECT_NE(evaluate_formula("n & 1", {{"n", 1}}).error().detail.find("the character '&'"), std::string::npos);
}

TEST(EvaluateFormula, NamesACharacterWhole)
{
    // Half of one would not be UTF-8, which neither JSON nor the database takes.
    EXPECT_NE(evaluate_formula("2×n", {{"n", 1}}).error().detail.find("the character '×'"), std::string::npos);
    EXPECT_NE(evaluate_formula("2\xff", {}).error().detail.find("must be UTF-8"), std::string::npos);
}

TEST(EvaluateFormula, KnowsParametersWithDigitsAndUnderscores)
{
    EXPECT_DOUBLE_EQ(value_of("channels_in*k2", {{"channels_in", 3}, {"k2", 5}}), 15);
    EXPECT_DOUBLE_EQ(value_of("2e3 + 1.5e-1 + 3."), 2003.15);
}

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
