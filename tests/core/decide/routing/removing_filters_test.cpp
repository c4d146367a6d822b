#include "core/decide/routing/removing_filters.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fathom {
namespace {

/// As each unit type's own answer says.
void expect_own_answers(const RouteRequest& request, const std::vector<UnitTypeView>& unit_types)
{
    const UnitTypeList list(unit_types);
    RouteColumns columns(list);
    const RemovingFilters filters(request, list, columns);
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        for (const bool runs_operators : {false, true}) {
            const std::optional<Filter> own =
                removing_filter(request, unit_types[i], UnitTypeFacts(unit_types[i]), runs_operators);
            EXPECT_EQ(filters.of(i, runs_operators), own ? static_cast<std::size_t>(*own) : kFilterCount)
                << unit_types[i].id.value;
        }
    }
}

std::vector<UnitTypeView> unlike_unit_types()
{
    std::vector<UnitTypeView> unit_types(8);
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        UnitTypeView& view = unit_types[i];
        view.id = UnitTypeId{"ut_" + std::to_string(i)};
        view.center_name = "center" + std::to_string(i / 2);
        view.resource_type = "cpu";
        view.unit_count = 8;
        view.memory_bytes_per_unit = 1000;
    }
    unit_types[1].resource_type = "gpu";
    unit_types[2].memory_bytes_per_unit = 10;
    unit_types[3].unit_count = 1;
    unit_types[4].max_wall_s = 60;
    unit_types[5].closed_reason = "silent";
    unit_types[5].closed_by = Filter::kHealth;
    unit_types[6].closed_reason = "drained";
    unit_types[6].is_open_to_probes = true;
    return unit_types;
}

RouteRequest picky_request()
{
    RouteRequest request;
    request.units.count = 2;
    request.units.device = "cpu";
    request.units.memory_bytes = 100;
    request.wall_limit_s = 600;
    return request;
}

TEST(RemovingFilters, OfAGroupAreThoseOfEachOfItsUnitTypes)
{
    RouteRequest request = picky_request();
    expect_own_answers(request, unlike_unit_types());
    request.is_probe = true;
    expect_own_answers(request, unlike_unit_types());
}

TEST(RemovingFilters, OfARequestThatNamesWhatOnlyViewsTellAreThoseOfEach)
{
    const RouteRequest any = picky_request();
    EXPECT_TRUE(asks_facts_only(any));
    RouteRequest request = any;
    request.units.center = "center3";
    EXPECT_FALSE(asks_facts_only(request));
    expect_own_answers(request, unlike_unit_types());
    request = any;
    request.units.type = "ut_7";
    expect_own_answers(request, unlike_unit_types());
    request = any;
    request.units.isa = {"avx2"};
    expect_own_answers(request, unlike_unit_types());
    request = any;
    request.sites = {"center0"};
    expect_own_answers(request, unlike_unit_types());
    request = any;
    request.project_centers = {"center3"};
    expect_own_answers(request, unlike_unit_types());
}

TEST(RemovingFilters, FollowFactsThatAreChangedInACopyOfTheColumns)
{
    const std::vector<UnitTypeView> unit_types = unlike_unit_types();
    const UnitTypeList list(unit_types);
    RouteColumns columns(list);
    const RouteRequest request = picky_request();
    EXPECT_EQ(RemovingFilters(request, list, columns).of(2, true), static_cast<std::size_t>(Filter::kMemory));
    RouteColumns copy = columns;
    UnitTypeFacts facts = copy.facts(2);
    facts.memory_bytes_per_unit = 1000;
    copy.set_facts(2, facts);

    EXPECT_EQ(RemovingFilters(request, list, copy).of(2, true), kFilterCount);
    EXPECT_EQ(RemovingFilters(request, list, columns).of(2, true), static_cast<std::size_t>(Filter::kMemory));
}

TEST(RemovingFilters, OfRandomNetworksAreThoseOfEach)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        expect_own_answers(network.request, network.unit_types);
    }
}

/// Unit types and requests of few values each, so that many are alike in some and differ in others.
class AnyFilters {
  public:
    UnitTypeView unit_type(int number)
    {
        UnitTypeView view;
        view.id = UnitTypeId{"ut_" + std::to_string(1000 + number)};
        view.name = any(2) == 0 ? "core" : "board";
        const std::string center = std::to_string(any(3));
        view.center_id = CenterId{"ctr_" + center};
        view.center_name = "center" + center;
        view.resource_type = any(2) == 0 ? "gpu" : "cpu";
        view.operators = any(5) == 0 ? std::vector<std::string>{"fft1d"} : std::vector<std::string>{"dgemm", "fft1d"};
        if (any(2) == 0) view.isa = std::vector<std::string>{"avx2"};
        view.memory_bytes_per_unit = any(3);
        view.gpu_memory_bytes = any(3);
        view.unit_count = 1 + any(4);
        view.units_per_device = any(3);
        view.max_wall_s = any(3) * 100;
        view.software.modules = any(2) == 0;
        if (any(3) > 0) return view;
        view.closed_reason = "it is closed";
        view.closed_by = any(2) == 0 ? Filter::kDrain : Filter::kHealth;
        view.is_open_to_probes = any(2) == 0;
        return view;
    }

    RouteRequest request()
    {
        RouteRequest request;
        request.operators = {{"dgemm", "n=1", 1, 1e9, 1e8}};
        UnitRequest& units = request.units;
        if (any(3) == 0) units.device = any(2) == 0 ? "gpu" : "cpu";
        units.memory_bytes = any(3);
        units.gpu_memory = {any(3), 0};
        units.min = 1 + any(3);
        if (any(2) == 0) units.count = 1 + any(4);
        if (any(3) == 0) units.sharing = UnitSharing::kExclusive;
        request.wall_limit_s = any(4) * 60;
        request.is_probe = any(2) == 0;
        ask_of_the_view(request);
        return request;
    }

  private:
    std::int64_t any(std::int64_t count) { return std::uniform_int_distribution<std::int64_t>(0, count - 1)(random_); }

    /// Half of them: for what only the view tells.
    void ask_of_the_view(RouteRequest& request)
    {
        switch (any(14)) {
        case 0:
            request.project_centers = {"center1"};
            break;
        case 1:
            request.refused_by = {"ctr_1"};
            break;
        case 2:
            request.units.center = "center0";
            break;
        case 3:
            request.units.type = "core";
            break;
        case 4:
            request.units.isa = {"avx2"};
            break;
        case 5:
            request.software.modules = true;
            break;
        case 6:
            request.sites = {"center2"};
            break;
        default:
            break;
        }
    }

    std::mt19937_64 random_{3};
};

constexpr std::uint8_t kStays = kFilterCount;

std::uint8_t asked_alone(const RouteRequest& request, const UnitTypeView& view)
{
    const std::optional<Filter> filter = removing_filter(request, view);
    return filter ? static_cast<std::uint8_t>(*filter) : kStays;
}

TEST(RemovingFilters, OfManyAreThoseOfEachAskedAlone)
{
    AnyFilters make;
    std::vector<UnitTypeView> views;
    for (int i = 0; i < 300; ++i)
        views.push_back(make.unit_type(i));
    const UnitTypeList unit_types(views);
    RouteColumns columns(unit_types);
    int of_facts = 0;
    for (int i = 0; i < 300; ++i) {
        const RouteRequest request = make.request();
        of_facts += asks_facts_only(request) ? 1 : 0;
        const RemovingFilters filters(request, unit_types, columns);
        for (std::size_t at = 0; at < views.size(); ++at)
            ASSERT_EQ(filters.of(at, has_operator(views[at], "dgemm")), asked_alone(request, views[at]))
                << i << " " << at;
    }
    EXPECT_GT(of_facts, 50);
    EXPECT_LT(of_facts, 250);
}

} // namespace
} // namespace fathom
