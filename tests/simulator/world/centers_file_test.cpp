#include "simulator/world/centers_file.hpp"
#include "simulator/world/centers_file_write.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kComplete = R"({
  "currency": "CHF",
  "begins": "2026-11-16T00:00:00Z",
  "job_types": [{"name": "solver", "scaling": "table"}, {"name": "mix", "operators": {"dgemm": 10, "fft": 1}}],
  "centers": [
    {"name": "alpha", "start_up_s": 5, "maintenance": [{"from_s": 3600, "to_s": 7200}, {"from_s": 0, "to_s": 60}],
     "network_rate_bytes": 1e8,
     "unit_types": [{"name": "core", "unit_count": 64, "peak_flops": 5e10, "benchmark": 3, "unit_power_w": 11,
                     "idle_power_w": 4, "operators": {"dgemm": 10, "fft": 1},
                     "price": {"per_unit_hour": "0.10", "bands": [{"days": ["sat", "sun"], "per_unit_hour": "0.05"}]},
                     "failures": {"mean_between_h": 1000, "mean_repair_h": 2},
                     "rates": {"solver": {"rate": 2, "speedups": [{"unit_count": 4, "speedup": 3}]}, "*": 0.5}}]},
    {"name": "beta",
     "unit_types": [{"name": "gpu", "unit_count": 8, "operators": {"dgemm": 20, "fft": 2},
                     "rates": {"solver": 7, "render": 1}},
                    {"name": "old", "unit_count": 2, "rates": {"*": 1}, "operators": {"dgemm": 20}}]}],
  "knowledge": {"job_noise": 0.2, "learns": false}
})";

std::vector<std::string> faults_of(std::string_view text)
{
    std::vector<std::string> faults;
    const Result<CentersFile> file = read_centers(text);
    if (file) return faults;
    const Error error = file.error();
    for (const FieldError& field : error.fields)
        faults.push_back(field.field + " " + field.detail);
    return faults;
}

TEST(CentersFile, DescribesANetwork)
{
    const CentersFile file = read_centers(kComplete).value();

    const Network& network = file.network;
    EXPECT_EQ(network.currency, "CHF");
    ASSERT_EQ(network.centers.size(), 2U);
    EXPECT_EQ(network.centers[0].start_up_s, 5);
    ASSERT_EQ(network.centers[0].closures.size(), 2U);
    EXPECT_EQ(network.centers[0].closures[0].to_s, 60); // by time
    EXPECT_EQ(network.centers[0].network_rate_bytes[167], 1e8);
    EXPECT_EQ(network.centers[1].network_rate_bytes[0], 0);
    ASSERT_EQ(network.unit_types.size(), 3U);
    const UnitType& core = network.unit_types[0];
    EXPECT_EQ(core.unit_count, 64);
    EXPECT_EQ(core.failures.mean_between_s, 3'600'000);
    EXPECT_DOUBLE_EQ(core.price.per_hour()[0], 0.1);
    EXPECT_DOUBLE_EQ(core.price.per_hour()[5 * 24], 0.05);
    EXPECT_EQ(core.price.unit_power_w(), 11);
    EXPECT_EQ(network.unit_types[2].center, 1U);
    EXPECT_EQ(file.knowledge.job_noise, 0.2);
    EXPECT_FALSE(file.knowledge.learns);
    EXPECT_EQ(file.knowledge.measurement_noise, KnowledgeSettings{}.measurement_noise);
}

TEST(CentersFile, RatesAreGivenOrComputedFromOperatorsOrThoseOfAnyType)
{
    const CentersFile file = read_centers(kComplete).value();

    const auto rates_of = [&](std::size_t type) {
        std::vector<double> rates;
        for (const UnitType& unit_type : file.network.unit_types)
            rates.push_back(unit_type.rates[type].rate);
        return rates;
    };
    EXPECT_EQ(file.network.job_types[0].name, "solver");
    EXPECT_THAT(rates_of(0), ElementsAre(2, 7, 1));
    EXPECT_EQ(file.network.unit_types[0].rates[0].speedups.size(), 1U);
    // 10/10 + 1/1 = 2 s on alpha's cores and half of that on beta's GPUs, which are the reference; `old` lacks fft.
    EXPECT_EQ(file.network.job_types[1].name, "mix");
    EXPECT_THAT(rates_of(1), ElementsAre(0.5, 1, 0));
    EXPECT_EQ(file.network.job_types[2].name, "render");
    EXPECT_THAT(rates_of(2), ElementsAre(0.5, 1, 1));
    EXPECT_TRUE(file.other_rates[0].has_value());
    EXPECT_FALSE(file.other_rates[1].has_value());
}

TEST(CentersFile, IsTheSameAfterItWasWrittenAndRead)
{
    const Json written = to_json(read_centers(kComplete).value());

    EXPECT_EQ(to_json(parse_centers(written).value()), written);
    EXPECT_DOUBLE_EQ(parse_centers(written).value().network.unit_types[0].price.per_hour()[5 * 24 + 3], 0.05);
}

TEST(CentersFile, NamesEveryFaultWithItsPath)
{
    const std::vector<std::string> faults = faults_of(R"({
      "begins": "2026-11-17T00:00:00Z", "what": 1, "knowledge": {"job_noise": -1},
      "job_types": [{"name": "a", "scaling": "cubic"}, {"name": "a"}],
      "centers": [{"name": "alpha", "maintenance": [{"from_s": 9, "to_s": 3}], "network_rate_bytes": [1, 2],
                   "unit_types": [{"name": "core", "unit_count": 0, "rates": {"a": -1, "b": {"speedups": []}},
                                   "price": {"per_unit_hour": 5, "bands": [{"from_hour": 30, "per_unit_hour": "1"}]}},
                                  {"name": "core", "unit_count": 1}]}]})");

    EXPECT_THAT(faults,
                testing::UnorderedElementsAre(
                    HasSubstr("begins must be a Monday"), HasSubstr("what is not a known field"),
                    HasSubstr("knowledge.job_noise must be between"), HasSubstr("job_types[0].scaling must be one of"),
                    HasSubstr("job_types[1].name names \"a\" a second time"),
                    HasSubstr("centers[0].maintenance[0].to_s must be after from_s"),
                    HasSubstr("centers[0].network_rate_bytes must have 168 items"),
                    HasSubstr("centers[0].unit_types[0].unit_count must be between 1"),
                    HasSubstr("centers[0].unit_types[0].rates.a must be between 0"),
                    HasSubstr("centers[0].unit_types[0].rates.b.rate is required"),
                    HasSubstr("centers[0].unit_types[0].price.per_unit_hour must be a decimal number"),
                    HasSubstr("centers[0].unit_types[0].price.bands[0].from_hour must be between 0 and 23"),
                    HasSubstr("centers[0].unit_types[1].name names \"core\" a second time"),
                    HasSubstr("centers[0].unit_types[1].rates is required")));
}

TEST(CentersFile, TakesSpeedupsOnlyOfTypesThatScaleByThem)
{
    constexpr const char* kText = R"({"centers": [{"name": "alpha", "unit_types": [{"name": "core", "unit_count": 1,
      "rates": {"a": {"rate": 1, "speedups": [{"unit_count": 2, "speedup": 1.9}, {"unit_count": 2, "speedup": 2}]}}}]}]})";

    EXPECT_THAT(faults_of(kText),
                testing::UnorderedElementsAre(HasSubstr("speedups[1].unit_count must be more than"),
                                              HasSubstr("rates.a has speedups, but job_types does not list it")));
}

TEST(CentersFile, MustBeJson)
{
    EXPECT_THAT(read_centers("centers: none").error().detail, HasSubstr("not valid JSON"));
    EXPECT_THAT(faults_of("[]"), testing::Contains(HasSubstr("must be an object")));
    EXPECT_THAT(faults_of("{}"), ElementsAre("centers is required"));
    EXPECT_THAT(faults_of(kComplete), IsEmpty());
}

} // namespace
} // namespace fathom::simulation
