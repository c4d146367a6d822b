#include "core/model/money.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fathom {
namespace {

using testing::ElementsAre;

std::vector<std::string> faults_of(const char* text)
{
    std::vector<FieldError> errors;
    static_cast<void>(parse_money(Json::parse(text), "budget", errors));
    std::vector<std::string> fields;
    for (const FieldError& error : errors)
        fields.push_back(error.field);
    return fields;
}

TEST(Money, AmountsAreExact)
{
    EXPECT_EQ(parse_amount("12.50"), 12'500'000);
    EXPECT_EQ(parse_amount("0.000001"), 1);
    EXPECT_EQ(parse_amount("007"), 7'000'000);
    EXPECT_EQ(parse_amount("-0.5"), -500'000);
    EXPECT_EQ(parse_amount("999999999999.999999"), 999'999'999'999'999'999);
    // 0.1 + 0.2 is 0.3 here, which it is not in binary fractions.
    EXPECT_EQ(*parse_amount("0.1") + *parse_amount("0.2"), *parse_amount("0.3"));
}

TEST(Money, WhatIsNoAmountIsNone)
{
    for (const char* text : {"", "-", ".5", "5.", "1,5", "1e3", "+1", "1.0000001", "1000000000000", " 1", "1 ", "0x1",
                             "--1", "1.2.3", "inf", "nan"})
        EXPECT_FALSE(parse_amount(text)) << text;
}

TEST(Money, IsWrittenWithoutTrailingZeros)
{
    EXPECT_EQ(format_amount(12'500'000), "12.5");
    EXPECT_EQ(format_amount(12'000'000), "12");
    EXPECT_EQ(format_amount(10), "0.00001");
    EXPECT_EQ(format_amount(0), "0");
    EXPECT_EQ(format_amount(-500'000), "-0.5");
    EXPECT_EQ(format_amount(std::numeric_limits<std::int64_t>::min()), "-9223372036854.775808");
    EXPECT_EQ(format_amount(std::numeric_limits<std::int64_t>::max()), "9223372036854.775807");
}

TEST(Money, IsReadAsItWasWritten)
{
    for (const std::int64_t micros : {0L, 1L, -1L, 999'999L, 1'000'000L, 123'456'789L, 999'999'999'999'999'999L})
        EXPECT_EQ(parse_amount(format_amount(micros)), micros);
}

TEST(Money, IsRoundedAwayFromZeroAtHalf)
{
    EXPECT_EQ(to_micros(0.0000005), 1);
    EXPECT_EQ(to_micros(-0.0000005), -1);
    EXPECT_EQ(to_micros(0.0000004), 0);
    EXPECT_EQ(to_micros(12.5), 12'500'000);
}

TEST(Money, WhatDoesNotFitIsTheEndOfTheRange)
{
    EXPECT_EQ(to_micros(1e300), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(to_micros(-std::numeric_limits<double>::infinity()), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(to_micros(std::nan("")), 0);
}

TEST(Money, EveryFaultIsSaidAtOnce)
{
    EXPECT_THAT(faults_of(R"({"amount": "12.50", "currency": "EUR"})"), ElementsAre());
    EXPECT_THAT(faults_of(R"({"amount": 12.5, "currency": "euro", "tax": 1})"),
                ElementsAre("budget.amount", "budget.currency", "budget.tax"));
    EXPECT_THAT(faults_of(R"({"amount": "-1"})"), ElementsAre("budget.amount", "budget.currency"));
    EXPECT_THAT(faults_of(R"("12 EUR")"), testing::Contains("budget"));
}

} // namespace
} // namespace fathom
