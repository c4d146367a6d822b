#include "core/decide/routing/removing_filters.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gtest/gtest.h>

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

} // namespace
} // namespace fathom
