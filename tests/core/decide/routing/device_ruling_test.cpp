// CPU or GPU decides (S6, S7): what the filter "speedup" sets aside, and what it leaves.
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::HasSubstr;

constexpr double kBus_gb = 12.8;

MeasuredOperator timed(double median_s)
{
    MeasuredOperator one;
    one.operator_id = "query";
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = one.ci_low_s = one.ci_high_s = median_s;
    return one;
}

std::shared_ptr<const NetworkProfile> constant_network(double gb_per_s)
{
    NetworkProfile::Known known{};
    known.overall = {504, gb_per_s * 1e9, 0.1};
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

std::shared_ptr<const UnitPrice> hourly(std::int64_t micros)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = micros;
    return std::make_shared<const UnitPrice>(entry);
}

/// Unit types of one center, alpha, and a job of one operator of which 10 s on the GPU are 18 s on the CPU.
class DeviceRulingTest : public ::testing::Test {
  protected:
    DeviceRulingTest()
    {
        request_.operators = {{"query", "n=1", 1, 1e9, 22e9}}; // D = 20 GB, o·D = 2 GB
        request_.units.count = 1;
        request_.follows_gpu_threshold = true;
        core_ = add("core", "cpu", 18);
        gpu_ = add("gpu", "cuda", 10);
    }

    std::size_t add(const std::string& name, const std::string& resource_type, double run_s, std::int64_t units = 1)
    {
        UnitTypeView view;
        view.id = UnitTypeId{"ut_" + name};
        view.name = name;
        view.center_id = CenterId{"ctr_alpha"};
        view.center_name = "alpha";
        view.resource_type = resource_type;
        view.operators = {"query"};
        view.unit_count = units;
        view.availability = Availability(units);
        view.measured = {timed(run_s)};
        views_.push_back(std::move(view));
        return views_.size() - 1;
    }
    Decision decide() const { return route(request_, views_); }
    std::string place() const
    {
        const Decision decision = decide();
        return decision.winner ? decision.candidates[*decision.winner].unit_type : std::string();
    }
    /// What the filter removes.
    std::int64_t removed() const { return removed_of(decide()); }
    static std::int64_t removed_of(const Decision& decision)
    {
        for (const FilterStep& step : decision.filter_trace.steps) {
            if (step.filter == Filter::kSpeedup) return step.removed;
        }
        return 0;
    }
    static const Candidate& named(const Decision& decision, const std::string& unit_type)
    {
        return *std::find_if(decision.candidates.begin(), decision.candidates.end(),
                             [&](const Candidate& one) { return one.unit_type == unit_type; });
    }

    std::vector<UnitTypeView> views_;
    std::size_t core_ = 0;
    std::size_t gpu_ = 0;
    RouteRequest request_;
};

/// Golden: the specification's table without compression. Each of a thousand units has D = 1 GB; T_cal and T' as S1 and
/// S4 have them are what probes measured.
TEST_F(DeviceRulingTest, GoldenTableOfTheSpecification)
{
    struct Row {
        double network_gb;
        double calculation_s; ///< T_cal of one machine: 10·t·D, and 100·t²·D
        double speedup;
        const char* run_on;
    };
    for (const Row& row : {Row{0.125, 10 * 0.005, 0.9998, "core"}, Row{0.125, 100 * 0.2 * 0.2, 1.0173, "gpu"},
                           Row{10, 10 * 0.005, 0.9872, "core"}, Row{10, 100 * 0.2 * 0.2, 2.3162, "gpu"}}) {
        views_.clear();
        add("core", "cpu", row.calculation_s, 1000);
        add("gpu", "cuda", row.calculation_s / 64 + bus_s(1.1e9, kBus_gb), 1000);
        for (UnitTypeView& view : views_)
            view.network = constant_network(row.network_gb);
        request_.operators = {{"query", "n=1", 1000, 1e9, 1.1e9}};
        request_.units.count = 1000;

        const Decision decision = decide();

        ASSERT_TRUE(decision.winner.has_value());
        EXPECT_EQ(decision.candidates[0].unit_type, row.run_on) << row.speedup;
        EXPECT_EQ(removed_of(decision), 1) << row.speedup;
        EXPECT_EQ(decision.filter_trace.left, 1);
        ASSERT_EQ(decision.devices.size(), 1U);
        EXPECT_NEAR(decision.devices[0].speedup, row.speedup, 5e-5);
        EXPECT_TRUE(decision.devices[0].decides);
        EXPECT_EQ(decision.devices[0].runs_on_gpu, std::string(row.run_on) == "gpu");
    }
}

/// Golden: the specification's table with compression, c = 0.3 and v = 0.1, of a job that compresses what goes between
/// its units. What is set aside is another matter: the places are held against each other by what is predicted of their
/// ends.
TEST_F(DeviceRulingTest, GoldenTableOfTheSpecificationWithCompression)
{
    struct Row {
        double network_gb;
        double calculation_s;
        double speedup;
        bool runs_on_gpu;
    };
    for (const Row& row : {Row{0.125, 10 * 0.005, 3.1980, true}, Row{0.125, 100 * 0.2 * 0.2, 3.2519, true},
                           Row{10, 10 * 0.005, 0.7705, false}, Row{10, 100 * 0.2 * 0.2, 1.8162, true}}) {
        views_.clear();
        add("core", "cpu", row.calculation_s, 1000);
        add("gpu", "cuda", row.calculation_s / 64 + bus_s(1.1e9, kBus_gb), 1000);
        for (UnitTypeView& view : views_)
            view.nodes = {row.network_gb, Compression{0.3, 0.1}};
        request_.operators = {{"query", "n=1", 1000, 1e9, 1.1e9}};
        request_.units.count = 1000;
        request_.compresses = true;

        const Decision decision = decide();

        ASSERT_EQ(decision.devices.size(), 1U);
        EXPECT_NEAR(decision.devices[0].speedup, row.speedup, 5e-5);
        EXPECT_EQ(decision.devices[0].runs_on_gpu, row.runs_on_gpu) << row.speedup;
    }
}

TEST_F(DeviceRulingTest, SaysTheFiguresInTraceAndReason)
{
    request_.gpu_threshold = 2;

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "core");
    const Candidate& gpu = named(decision, "gpu");
    EXPECT_FALSE(gpu.feasible);
    EXPECT_EQ(gpu.removed_by, Filter::kSpeedup);
    EXPECT_EQ(gpu.reason, "on alpha/gpu the job is 1.8 times as fast as on alpha/core, not more than the threshold 2: "
                          "its CPUs are taken (n = 1, b not known)");
    ASSERT_EQ(decision.filter_trace.steps.size(), 1U);
    EXPECT_EQ(decision.filter_trace.steps[0].centers.at(0).center, "alpha");
    EXPECT_EQ(decision.filter_trace.steps[0].centers.at(0).reason, gpu.reason);
    EXPECT_THAT(describe(decision.filter_trace), HasSubstr("1 is set aside by the GPU's speed-up"));
    const Json json = to_json(decision);
    EXPECT_EQ(json["candidates"][1]["removed_by"], "speedup");
    EXPECT_DOUBLE_EQ(json["candidates"][1]["completion_s"].get<double>(), 10);
    EXPECT_EQ(json["devices"][0]["decides"], true);
    EXPECT_EQ(json["devices"][0]["network_source"], "unknown");
}

TEST_F(DeviceRulingTest, OnlyTellsWhatS6SaysWhereARequestDoesNotFollowIt)
{
    request_.gpu_threshold = 2;
    request_.follows_gpu_threshold = false;

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "gpu");
    EXPECT_EQ(removed_of(decision), 0);
    EXPECT_FALSE(decision.devices.at(0).runs_on_gpu);
    EXPECT_FALSE(decision.devices.at(0).decides);
}

TEST_F(DeviceRulingTest, WhatTheJobItselfNamesIsNotSetAside)
{
    request_.gpu_threshold = 2;
    request_.units.device = "gpu";
    EXPECT_EQ(place(), "gpu");
    request_.units.device.clear();
    request_.units.type = "gpu";
    EXPECT_EQ(place(), "gpu");
    request_.units.type = "any";
    request_.is_probe = true;
    EXPECT_EQ(removed(), 0);
}

/// N falls from 1.8 to (18 + 16) / (10 + 16) where 2 GB of results go over 0.125 GB/s.
TEST_F(DeviceRulingTest, TheNetworkDecidesAtAThresholdAboveOne)
{
    request_.gpu_threshold = 1.5;
    request_.transfer.out_bytes = 2e9;
    for (UnitTypeView& view : views_)
        view.network = constant_network(0.125);
    const Decision slow = decide();
    EXPECT_EQ(slow.candidates[0].unit_type, "core");
    EXPECT_NEAR(slow.devices.at(0).speedup, 34.0 / 26, 1e-9);
    EXPECT_THAT(named(slow, "gpu").reason, HasSubstr("b = 0.125 GB/s, its way to the data site"));

    for (UnitTypeView& view : views_)
        view.network = constant_network(10);
    const Decision fast = decide();
    EXPECT_EQ(fast.candidates[0].unit_type, "gpu");
    EXPECT_EQ(named(fast, "core").removed_by, Filter::kSpeedup);
    EXPECT_THAT(named(fast, "core").reason, HasSubstr("more than the threshold 1.5: its GPUs are taken"));

    for (UnitTypeView& view : views_)
        view.network = nullptr;
    request_.transfer.out_bytes = 0;
    EXPECT_EQ(removed(), 0) << "1.8 is more, but b, which is not measured, could make it less";
    EXPECT_EQ(place(), "gpu");
    request_.gpu_threshold = 2;
    EXPECT_EQ(place(), "core") << "1.8 is not more, whatever b is";
    request_.gpu_threshold = 1;
    EXPECT_EQ(removed(), 1) << "whether a GPU is faster at all does not rest on b";
}

/// Over the way to the data site N is (18 + 16) / (10 + 16), between the hosts (18 + 0.2) / (10 + 0.2).
TEST_F(DeviceRulingTest, WhatWasMeasuredBetweenTheHostsOfACenterDecidesThere)
{
    request_.gpu_threshold = 1.5;
    request_.transfer.out_bytes = 2e9;
    for (UnitTypeView& view : views_) {
        view.network = constant_network(0.125);
        view.nodes.between_hosts_gb = 10;
    }

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "gpu");
    EXPECT_NEAR(decision.devices.at(0).speedup, 18.2 / 10.2, 1e-9);
    EXPECT_THAT(named(decision, "core").reason, HasSubstr("b = 10 GB/s, as measured between its hosts)"));
    EXPECT_EQ(to_json(decision)["devices"][0]["network_source"], "between_hosts");
    views_[core_].nodes = {};
    EXPECT_EQ(place(), "gpu") << "any unit type of the center tells";
    views_[gpu_].nodes = {};
    EXPECT_EQ(place(), "core");
}

/// 20 GB in and 2 GB out are compressed in a second, and a third of the 16 s on the way is left.
TEST_F(DeviceRulingTest, CompressionCountsForAJobThatCompresses)
{
    request_.gpu_threshold = 1.5;
    request_.transfer.out_bytes = 2e9;
    for (UnitTypeView& view : views_) {
        view.network = constant_network(0.125);
        view.nodes = {0.125, Compression{0.3, 22}};
    }
    const Decision plain = decide();
    EXPECT_NEAR(plain.devices.at(0).speedup, 34.0 / 26, 1e-9);
    EXPECT_EQ(plain.candidates[0].unit_type, "core");
    EXPECT_FALSE(to_json(plain)["devices"][0].contains("compressed_fraction"));

    request_.compresses = true;
    const Decision compressed = decide();
    EXPECT_NEAR(compressed.devices.at(0).speedup, 34.0 / (1 + 10 + 0.3 * 16), 1e-9);
    EXPECT_EQ(compressed.candidates[0].unit_type, "gpu");
    EXPECT_THAT(named(compressed, "core").reason, HasSubstr("between its hosts, c = 0.3, v = 22 GB/s)"));
    EXPECT_EQ(to_json(compressed)["devices"][0]["compressed_fraction"], 0.3);
}

/// Over an infinitely fast network N is 18 / 11, over a slow one up to 1 / 0.3.
TEST_F(DeviceRulingTest, WithCompressionANetworkThatIsNotMeasuredCouldSpeakForTheGpu)
{
    request_.gpu_threshold = 2;
    for (UnitTypeView& view : views_)
        view.nodes.compression = Compression{0.3, 22};
    EXPECT_EQ(place(), "core") << "18 / 10 is not more, whatever b is";

    request_.compresses = true;
    EXPECT_EQ(removed(), 0);
    EXPECT_EQ(place(), "gpu");
    request_.gpu_threshold = 4;
    EXPECT_EQ(removed(), 1) << "1 / 0.3 is not more either";
}

TEST_F(DeviceRulingTest, NoJobWaitsForAFullDeviceOfWhichTheOtherWouldEndItEarlier)
{
    request_.gpu_threshold = 2;
    views_[core_].availability.take(0, 3, 1);
    EXPECT_EQ(place(), "gpu") << "the CPU would end it at 21 s, which is more than 2 · 10 s";
    EXPECT_EQ(removed(), 0);
    views_[core_].availability = Availability(1);
    views_[core_].availability.take(0, 1, 1);
    EXPECT_EQ(place(), "core") << "19 s is not";

    request_.gpu_threshold = 1;
    views_[core_].availability = Availability(1);
    views_[gpu_].availability.take(0, 5, 1);
    EXPECT_EQ(place(), "gpu") << "it ends at 15 s";
    EXPECT_EQ(removed(), 0) << "but starts later: the CPU stays a place";
    views_[gpu_].availability.take(5, 50, 1);
    EXPECT_EQ(place(), "core");
    EXPECT_EQ(removed(), 0);
}

TEST_F(DeviceRulingTest, NothingIsSetAsideByWhatWasNotMeasured)
{
    request_.gpu_threshold = 2;
    request_.operators.push_back({"solve", "n=1", 1, 1e9, 0});
    for (UnitTypeView& view : views_)
        view.operators = {"query", "solve"}; // in order
    MeasuredOperator solve = timed(1);
    solve.operator_id = "solve";
    views_[core_].measured = {timed(18), solve};
    EXPECT_EQ(removed(), 0);

    views_[gpu_].measured = {timed(10), solve};
    EXPECT_EQ(removed(), 1);
}

TEST_F(DeviceRulingTest, EachGpuIsComparedWithTheFastestCpuOfItsCenter)
{
    add("older-gpu", "cuda", 20);
    add("newer-gpu", "cuda", 3);
    add("slow-core", "cpu", 40);
    for (UnitTypeView& view : views_)
        view.network = constant_network(1e6); // without one GPUs are set aside alone
    request_.gpu_threshold = 2;

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "newer-gpu");
    EXPECT_EQ(removed_of(decision), 4);
    EXPECT_THAT(named(decision, "older-gpu").reason, HasSubstr("the job is 0.9 times as fast as on alpha/core, not"));
    EXPECT_THAT(named(decision, "gpu").reason, HasSubstr("the job is 1.8 times as fast as on alpha/core, not"));
    for (const char* cpu : {"core", "slow-core"})
        EXPECT_THAT(named(decision, cpu).reason, HasSubstr("on alpha/newer-gpu the job is 6 times as fast"));
    ASSERT_EQ(decision.devices.size(), 1U);
    EXPECT_EQ(decision.devices[0].gpu_unit_type, "newer-gpu") << "what won, not what was set aside beside it";
    EXPECT_TRUE(decision.devices[0].runs_on_gpu);
}

TEST_F(DeviceRulingTest, OtherCentersArePlacesAsBefore)
{
    add("far", "cpu", 12);
    views_.back().center_id = CenterId{"ctr_beta"};
    views_.back().center_name = "beta";
    request_.gpu_threshold = 2;

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "far") << "no GPU to compare with";
    EXPECT_EQ(removed_of(decision), 1);
}

TEST_F(DeviceRulingTest, WhatTheJobPrefersIsNeverMadeMoreThanTheThresholdWorse)
{
    request_.gpu_threshold = 2;
    request_.prefer = {0, 1, 0};
    views_[core_].price = hourly(1'000'000);
    views_[gpu_].price = hourly(100'000);
    EXPECT_EQ(place(), "gpu") << "18 times as cheap";
    EXPECT_EQ(removed(), 0);
    views_[gpu_].price = hourly(1'000'000);
    EXPECT_EQ(place(), "core") << "1.8 times as cheap";

    request_.gpu_threshold = 1;
    views_[gpu_].price = hourly(10'000'000);
    EXPECT_EQ(place(), "core") << "the GPU is faster, and dearer";
    EXPECT_EQ(removed(), 0);
}

/// In a large network few places are looked at, and those may all be GPUs.
TEST_F(DeviceRulingTest, TheCpuIsFoundInALargeNetwork)
{
    views_.clear();
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(100 + i);
        for (const bool is_gpu : {false, true}) {
            add((is_gpu ? "gpu" : "core") + number, is_gpu ? "cuda" : "cpu", is_gpu ? 10 + i * 0.01 : 18 + i * 0.01);
            views_.back().center_id = CenterId{"ctr_" + number};
            views_.back().center_name = "center" + number;
        }
    }
    request_.gpu_threshold = 2;

    const Decision decision = decide();

    EXPECT_EQ(decision.candidates[0].unit_type, "core100");
    EXPECT_EQ(named(decision, "gpu100").removed_by, Filter::kSpeedup);
}

TEST_F(DeviceRulingTest, OffersLeaveOutGpusAndSaySo)
{
    request_.gpu_threshold = 2;
    RouteTable saving(views_);
    const OfferedPlaces offered = offered_places(request_, saving);
    EXPECT_TRUE(offered.leaves_out_devices);
    ASSERT_EQ(offered.places.size(), 1U);
    EXPECT_EQ(offered.places[0].unit_type, core_);

    request_.gpu_threshold = 1;
    RouteTable table(views_);
    const OfferedPlaces others = offered_places(request_, table);
    EXPECT_FALSE(others.leaves_out_devices);
    ASSERT_EQ(others.places.size(), 2U) << "to the order of jobs a CPU is a place all the same";
    EXPECT_EQ(others.places[0].unit_type, gpu_);
}

TEST_F(DeviceRulingTest, WhatIsKeptIsReadHoweverAbsurdACentersCompressionIs)
{
    request_.compresses = true;
    for (UnitTypeView& view : views_)
        view.nodes = {10, Compression{1e-200, 1e-18}};

    const Result<RouteInputs> inputs =
        parse_route_inputs(route_inputs_json(request_, UnitTypeList(views_), {}, decide()));

    ASSERT_TRUE(inputs.has_value());
    EXPECT_EQ(inputs->unit_types.front().nodes, views_.front().nodes);
}

TEST_F(DeviceRulingTest, ADecisionIsMadeAgainFromWhatIsKeptOfIt)
{
    request_.gpu_threshold = 2;
    request_.compresses = true;
    for (UnitTypeView& view : views_)
        view.nodes = {10, Compression{0.9, 1000}};
    const Decision decision = decide();

    const Result<RouteInputs> inputs =
        parse_route_inputs(route_inputs_json(request_, UnitTypeList(views_), {}, decision));

    ASSERT_TRUE(inputs.has_value());
    EXPECT_TRUE(inputs->request.compresses);
    for (const UnitTypeView& view : inputs->unit_types)
        EXPECT_EQ(view.nodes, views_.front().nodes);
    const Decision again = route(inputs->request, inputs->unit_types, inputs->knowledge);
    ASSERT_TRUE(again.winner.has_value());
    EXPECT_EQ(again.candidates[*again.winner].unit_type, "core");
}

TEST(FilterTrace, TakesBackWhatIsAPlaceAfterAll)
{
    FilterTrace trace{5, 2, {{Filter::kSpeedup, 3, {{"alpha", 2, "a"}, {"beta", 1, "b"}}}}};
    take_back(trace, Filter::kSpeedup, "beta");
    take_back(trace, Filter::kSpeedup, "gamma");
    take_back(trace, Filter::kBudget, "alpha");
    EXPECT_EQ(trace.left, 3);
    ASSERT_EQ(trace.steps.size(), 1U);
    EXPECT_EQ(trace.steps[0].removed, 2);
    ASSERT_EQ(trace.steps[0].centers.size(), 1U);

    take_back(trace, Filter::kSpeedup, "alpha");
    take_back(trace, Filter::kSpeedup, "alpha");
    EXPECT_EQ(trace.left, 5);
    EXPECT_TRUE(trace.steps.empty());
}

} // namespace
} // namespace fathom
