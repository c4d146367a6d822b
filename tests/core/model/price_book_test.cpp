#include "core/model/price_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr const char* kBook = R"({
    "currency": "EUR",
    "entries": [
        {"center": "beta", "unit_type": "*", "per_unit_hour": "0.30"},
        {"center": "alpha", "unit_type": "gpu", "per_unit_hour": "2", "unit_power_w": 350, "carbon_g_per_kwh": 120},
        {"center": "alpha", "unit_type": "core", "per_unit_hour": "0.12", "bands": [
            {"from_hour": 22, "to_hour": 24, "per_unit_hour": "0.06"},
            {"days": ["sat", "sun"], "per_unit_hour": "0.05"},
            {"days": ["sun"], "from_hour": 6, "to_hour": 7, "per_unit_hour": "0"}
        ]}
    ]})";

PriceBook book()
{
    return parse_price_book(Json::parse(kBook)).value();
}

std::vector<FieldError> faults_of(const char* text)
{
    const Result<PriceBook> parsed = parse_price_book(Json::parse(text));
    if (parsed) return {};
    EXPECT_EQ(parsed.error().code, Errc::kInvalid);
    return parsed.error().fields;
}

std::vector<std::string> fields_of(const char* text)
{
    std::vector<std::string> fields;
    for (const FieldError& fault : faults_of(text))
        fields.push_back(fault.field);
    return fields;
}

TEST(PriceBook, IsReadAndWrittenWithoutLoss)
{
    const Json written = to_json(book());

    EXPECT_EQ(to_json(parse_price_book(written).value()), written);
    EXPECT_EQ(written["entries"][0]["center"], "alpha");
    EXPECT_EQ(written["entries"][0]["bands"][1]["days"], Json({"sat", "sun"}));
    EXPECT_FALSE(written["entries"][0]["bands"][0].contains("days")) << "every day";
    EXPECT_EQ(written["entries"][1]["unit_power_w"], 350);
}

TEST(PriceBook, AUnitTypesOwnPriceGoesBeforeThatOfItsCenter)
{
    PriceBook prices = parse_price_book(Json::parse(R"({"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "*", "per_unit_hour": "1"},
        {"center": "alpha", "unit_type": "gpu", "per_unit_hour": "2"}]})"))
                           .value();

    EXPECT_EQ(find_price(prices, "alpha", "gpu")->per_unit_hour_micros, 2'000'000);
    EXPECT_EQ(find_price(prices, "alpha", "core")->per_unit_hour_micros, 1'000'000);
    EXPECT_EQ(find_price(prices, "beta", "core"), nullptr);
    EXPECT_EQ(find_price(PriceBook(), "alpha", "core"), nullptr);
}

TEST(PriceBook, HoursHaveThePriceOfTheirLastBand)
{
    const auto prices = hourly_prices(*find_price(book(), "alpha", "core"));

    EXPECT_EQ(prices[0], 120'000);          // Monday, midnight
    EXPECT_EQ(prices[21], 120'000);         // … before the evening
    EXPECT_EQ(prices[22], 60'000);          // … in it
    EXPECT_EQ(prices[4 * 24 + 23], 60'000); // Friday evening
    EXPECT_EQ(prices[5 * 24], 50'000);      // Saturday
    EXPECT_EQ(prices[5 * 24 + 23], 50'000); // … in the evening: the later band wins
    EXPECT_EQ(prices[6 * 24 + 6], 0);       // Sunday, six o'clock
    EXPECT_EQ(prices[6 * 24 + 7], 50'000);  // … seven
}

TEST(PriceBook, EveryFaultIsSaidAtOnce)
{
    EXPECT_THAT(fields_of(R"({
        "currency": "euro",
        "valid": true,
        "entries": [
            {"center": "", "unit_type": "core", "per_unit_hour": "-1"},
            {"center": "alpha", "unit_type": "core", "per_unit_hour": 0.1, "unit_power_w": -5, "colour": "red"},
            {"center": "alpha", "unit_type": "gpu", "per_unit_hour": "1", "bands": [
                {"days": ["someday"], "from_hour": 24, "to_hour": 25, "per_unit_hour": "1"},
                {"days": ["mon", "mon"], "from_hour": 22, "to_hour": 6, "per_unit_hour": "1"}]}
        ]})"),
                UnorderedElementsAre("currency", "valid", "entries[0].center", "entries[0].per_unit_hour",
                                     "entries[1].per_unit_hour", "entries[1].unit_power_w", "entries[1].colour",
                                     "entries[2].bands[0].days[0]", "entries[2].bands[0].from_hour",
                                     "entries[2].bands[0].to_hour", "entries[2].bands[1].days",
                                     "entries[2].bands[1].to_hour"));
    EXPECT_THAT(fields_of(R"({"currency": "EUR"})"), ElementsAre("entries"));
    EXPECT_THAT(fields_of(R"({"currency": "EUR", "entries": []})"), ElementsAre("entries"));
}

TEST(PriceBook, APlaceHasOnePrice)
{
    const std::vector<FieldError> faults = faults_of(R"({"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "core", "per_unit_hour": "1"},
        {"center": "beta", "unit_type": "core", "per_unit_hour": "1"},
        {"center": "alpha", "unit_type": "core", "per_unit_hour": "2"}]})");

    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].field, "entries[2]");
    EXPECT_EQ(faults[0].detail, "alpha/core has a price already, in entries[0]");
}

constexpr const char* kTerms = R"({
    "currency": "EUR",
    "entries": [
        {"center": "*", "unit_type": "*", "per_score_hour": "0.1"},
        {"center": "alpha", "unit_type": "gpu", "per_unit_hour": "0.05", "per_score_hour": "0.1",
         "per_idle_reserved_unit_hour": "0.3", "bands": [{"from_hour": 0, "to_hour": 6, "per_score_hour": "0.06"}]}],
    "per_gb_moved": "0.01", "per_gb_hour_stored": "0.0001", "minimum_charge": "0.001",
    "discounts": [{"project": "materials", "percent": "12.5"}],
    "budgets": [{"project": "water", "per_month": "500", "action": "refuse", "alerts_percent": [50, 100]},
                {"project": "materials", "per_month": "20", "action": "warn", "alerts_percent": [80, 100]}]})";

TEST(PriceBook, MeasuredComputeHasAPriceEverywhere)
{
    const PriceBook terms = parse_price_book(Json::parse(kTerms)).value();

    EXPECT_EQ(find_price(terms, "beta", "core")->per_score_hour_micros, 100'000);
    const PriceEntry& gpu = *find_price(terms, "alpha", "gpu");
    EXPECT_EQ(hourly_score_prices(gpu)[5], 60'000);
    EXPECT_EQ(hourly_score_prices(gpu)[6], 100'000);
    EXPECT_EQ(hourly_prices(gpu)[5], 50'000) << "the band does not name it";
    EXPECT_EQ(terms.discounts_ppm.at("materials"), 125'000);
    EXPECT_TRUE(find_budget(terms, "water")->refuses);
    EXPECT_FALSE(find_budget(terms, "materials")->refuses);
    EXPECT_EQ(find_budget(terms, "other"), nullptr);
}

TEST(PriceBook, TermsAreWrittenAsTheyWereRead)
{
    const PriceBook terms = parse_price_book(Json::parse(kTerms)).value();

    EXPECT_EQ(to_json(parse_price_book(to_json(terms)).value()), to_json(terms));
    EXPECT_EQ(to_json(terms)["discounts"], Json::parse(R"([{"project": "materials", "percent": "12.5"}])"));
    EXPECT_EQ(to_json(terms)["budgets"].at(0)["project"], "materials") << "in order of project";
}

TEST(PriceBook, TermsThatCannotBeAreNamed)
{
    EXPECT_THAT(fields_of(R"({"currency": "EUR",
        "entries": [{"center": "*", "unit_type": "core", "per_score_hour": "1"}, {"center": "a", "unit_type": "b"},
                    {"center": "a", "unit_type": "c", "per_score_hour": "1", "bands": [{"from_hour": 1}]}],
        "minimum_charge": "-1",
        "discounts": [{"project": "a", "percent": "100.1"}, {"project": "a", "percent": "1"}],
        "budgets": [{"project": "a", "per_month": "1", "action": "shout", "alerts_percent": [100, 50]}]})"),
                UnorderedElementsAre("entries[0].unit_type", "entries[1].per_score_hour",
                                     "entries[2].bands[0].per_score_hour", "minimum_charge", "discounts[0].percent",
                                     "discounts[1].project", "budgets[0].action", "budgets[0].alerts_percent"));
}

} // namespace
} // namespace fathom
