#include "core/decide/routing/route_columns.hpp"
#include "core/decide/routing/route_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fathom {
namespace {

class Networks {
  public:
    std::vector<UnitTypeView> make(int size)
    {
        std::vector<UnitTypeView> views(static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < views.size(); ++i) {
            views[i].id = {"ut_" + std::to_string(100 + i)};
            views[i].name = "type" + std::to_string(i % 3);
            views[i].center_name = "center" + std::to_string(i / 3);
            views[i].operators = std::vector<std::string>{"dgemm", "fft1d"};
            measure(views[i]);
        }
        return views;
    }

    /// The same later: some were measured again, lost an operator, or scale otherwise.
    std::vector<UnitTypeView> later(const std::vector<UnitTypeView>& before)
    {
        std::vector<UnitTypeView> views = before;
        for (UnitTypeView& view : views) {
            if (chance(5)) measure(view);
            if (chance(8)) view.operators = std::vector<std::string>{"dgemm"};
            if (chance(8)) view.speedups = curves();
        }
        return views;
    }

  private:
    bool chance(int of) { return std::uniform_int_distribution(1, of)(random_) == 1; }

    void measure(UnitTypeView& view)
    {
        std::vector<MeasuredOperator> list;
        for (const char* id : {"dgemm", "fft1d"}) {
            for (int n = 1; n <= 3; ++n) {
                if (chance(4)) continue;
                MeasuredOperator one;
                one.operator_id = id;
                one.parameters_key = "n=" + std::to_string(n);
                one.operations = 1e9 * n;
                one.median_s = std::uniform_real_distribution(0.1, 2.0)(random_);
                one.ci_low_s = one.median_s * 0.9;
                one.ci_high_s = one.median_s * 1.1;
                one.start_up_s = one.median_s / 100;
                one.measured_at = Timestamp(std::chrono::seconds(++moment_));
                list.push_back(std::move(one));
            }
        }
        if (chance(3)) std::reverse(list.begin(), list.end());
        view.measured = std::move(list);
    }

    std::shared_ptr<const UnitSpeedups> curves()
    {
        std::vector<ScalingPoint> points;
        const double serial = std::uniform_real_distribution(0.02, 0.5)(random_);
        for (const double count : {1.0, 2.0, 4.0})
            points.push_back({count, 1 / (serial + (1 - serial) / count)});
        return std::make_shared<const UnitSpeedups>(UnitSpeedups{
            std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e9, fit_scaling(points, ScalingMode::kStrong).value())});
    }

    std::mt19937 random_{7};
    int moment_ = 0;
};

std::vector<OperatorDemand> demands()
{
    std::vector<OperatorDemand> all;
    for (const char* id : {"dgemm", "fft1d", "sort"}) {
        for (const int n : {1, 3, 5})
            all.push_back({id, "n=" + std::to_string(n), 1, 1e9 * n, 0});
    }
    return all;
}

void expect_equal(RouteColumns& columns, RouteColumns& fresh)
{
    EXPECT_EQ(columns.id_rank(), fresh.id_rank());
    EXPECT_EQ(columns.by_center(), fresh.by_center());
    for (const OperatorDemand& demand : demands()) {
        const auto one = columns.find(demand);
        const auto other = fresh.find(demand);
        EXPECT_EQ(one->least_s, other->least_s) << demand.operator_id << demand.parameters_key;
        EXPECT_EQ(one->least_unit_s, other->least_unit_s);
        EXPECT_EQ(one->is_unknown, other->is_unknown);
        EXPECT_EQ(one->is_estimated, other->is_estimated);
        EXPECT_EQ(columns.measured_at(demand.operator_id, demand.parameters_key),
                  fresh.measured_at(demand.operator_id, demand.parameters_key));
        EXPECT_EQ(columns.offers(demand.operator_id), fresh.offers(demand.operator_id));
        for (std::size_t i = 0; i < columns.size(); ++i) {
            EXPECT_EQ(one->times[i].execution_s, other->times[i].execution_s);
            EXPECT_EQ(one->times[i].spread, other->times[i].spread);
            EXPECT_EQ(one->times[i].curve, other->times[i].curve);
            EXPECT_EQ(one->times[i].basis, other->times[i].basis);
            EXPECT_EQ(one->is_offered[i], other->is_offered[i]);
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        EXPECT_EQ(columns.facts(i), fresh.facts(i));
        EXPECT_EQ(columns.idle_units(i), fresh.idle_units(i));
        EXPECT_EQ(columns.fact_columns().trust_factor[i], columns.facts(i).trust_factor);
        EXPECT_EQ(columns.fact_columns().least_cost_per_s[i], columns.facts(i).least_cost_per_s);
        EXPECT_EQ(columns.fact_columns().power_w[i], columns.facts(i).power_w);
        EXPECT_EQ(columns.fact_columns().least_s_per_byte[i], columns.facts(i).least_s_per_byte);
        EXPECT_EQ(columns.fact_columns().has_network[i] != 0, columns.facts(i).has_network);
        EXPECT_EQ(columns.start_up_s(i), fresh.start_up_s(i));
        EXPECT_EQ(columns.speed(i), fresh.speed(i));
        EXPECT_EQ(columns.index()->find(columns.unit_types()[i].id.value), std::optional(i));
    }
}

TEST(RouteColumns, OfALaterCatalogAreAsIfMadeOfIt)
{
    Networks networks;
    std::vector<std::vector<UnitTypeView>> catalogs{networks.make(40)};
    auto columns = std::make_shared<RouteColumns>(catalogs.back());
    const std::shared_ptr<const OperatorColumn> seen = columns->find(demands()[0]);
    const std::vector<double> seen_s = seen->least_s;
    for (int later = 0; later < 20; ++later) {
        RouteColumns fresh(catalogs.back());
        if (later % 3 != 1) expect_equal(*columns, fresh); // else some are of two catalogs before
        catalogs.push_back(networks.later(catalogs.back()));
        columns = std::make_shared<RouteColumns>(catalogs.back(), nullptr, columns.get());
        if (later % 4 == 2) columns->prepare();
    }
    EXPECT_EQ(seen->least_s, seen_s) << "who looks at a column sees it as it was";
}

// Each kind of list: in order, in reverse, with operators that nobody else has, empty.
TEST(RouteColumns, AreAsASearchOfEachUnitTypesListsFinds)
{
    Networks networks;
    std::vector<UnitTypeView> views = networks.make(60);
    views[3].measured.clear();
    views[4].operators.clear();
    views[5].operators = std::vector<std::string>{"dgemm", "sort"};
    views[6].measured.own().front().operator_id = "sort";
    RouteColumns columns(views);
    std::vector<OperatorDemand> all = demands();
    all.push_back({"dgemm@2", "n=1", 1, 1e9, 0});

    for (const OperatorDemand& demand : all) {
        const auto column = columns.find(demand);
        const std::vector<Timestamp> measured_at = columns.measured_at(demand.operator_id, demand.parameters_key);
        for (std::size_t i = 0; i < views.size(); ++i) {
            const ExecutionTime plain = execution_time(demand, views[i].measured);
            EXPECT_EQ(column->times[i].execution_s, plain.execution_s) << demand.operator_id << i;
            EXPECT_EQ(column->times[i].basis, plain.basis);
            EXPECT_EQ(column->is_offered[i] != 0, has_operator(views[i], demand.operator_id));
            if (plain.basis == PredictionBasis::kMeasured) EXPECT_EQ(measured_at[i], plain.evidence->measured_at);
        }
    }
}

TEST(RouteColumns, OfAnOperatorThatIsFirstAskedForLaterAreOfTheLaterCatalog)
{
    Networks networks;
    std::vector<std::vector<UnitTypeView>> catalogs{networks.make(40)};
    auto columns = std::make_shared<RouteColumns>(catalogs.back());
    columns->find(demands().front());
    for (int later = 0; later < 3; ++later) {
        catalogs.push_back(networks.later(catalogs.back()));
        columns = std::make_shared<RouteColumns>(catalogs.back(), nullptr, columns.get());
    }

    RouteColumns fresh(catalogs.back());
    expect_equal(*columns, fresh);
}

TEST(RouteColumns, ThatArePreparedAreThoseThatAreMadeWhenAskedFor)
{
    Networks networks;
    const std::vector<UnitTypeView> views = networks.make(40);
    RouteColumns prepared(views);
    prepared.prepare();

    EXPECT_EQ(prepared.column_count(), 6U) << "two operators at three sizes";
    RouteColumns fresh(views);
    EXPECT_EQ(fresh.column_count(), 0U);
    expect_equal(prepared, fresh);

    RouteColumns none(std::vector<UnitTypeView>{});
    none.prepare();
    EXPECT_EQ(none.size(), 0U);
}

TEST(RouteColumns, KeepWhatIsKnownOfUnitTypesThatStayWhereOthersComeAndGo)
{
    Networks networks;
    std::vector<std::vector<UnitTypeView>> catalogs{networks.make(30)};
    auto columns = std::make_shared<RouteColumns>(catalogs.back());
    for (int later = 0; later < 12; ++later) {
        for (const OperatorDemand& demand : demands())
            columns->find(demand);
        std::vector<UnitTypeView> now = networks.later(catalogs.back());
        now.erase(now.begin() + later % 7);
        UnitTypeView arrived = networks.make(1).front();
        arrived.id = {"ut_0" + std::to_string(later)};
        now.insert(now.begin() + later, std::move(arrived));
        now.back().center_name = "elsewhere" + std::to_string(later);
        catalogs.push_back(std::move(now));
        columns = std::make_shared<RouteColumns>(catalogs.back(), nullptr, columns.get());

        EXPECT_EQ(columns->column_count(), demands().size());
        if (later % 3 == 1) columns->prepare();
        if (later % 4 == 2) continue; // then some are of two catalogs before
        RouteColumns fresh(catalogs.back());
        expect_equal(*columns, fresh);
    }
}

TEST(RouteColumns, KeepTextsOfInputsUntilNoCatalogHasWhatTheyAreOf)
{
    Networks networks;
    const std::vector<UnitTypeView> unit_types = networks.make(3);
    std::shared_ptr<const void> list = std::make_shared<const int>(1);
    const std::weak_ptr<const void> watched = list;
    RouteColumns first(unit_types);
    first.input_texts().of(list, "price", "", [] { return std::string("1"); });

    RouteColumns second(unit_types, nullptr, &first);
    EXPECT_EQ(first.input_texts().size_bytes(), 0U);
    EXPECT_EQ(second.input_texts().of(list, "price", "", [] { return std::string("anew"); }), "1");
    list.reset();
    RouteColumns third(unit_types, nullptr, &second);

    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(third.input_texts().size_bytes(), 0U);
}

} // namespace
} // namespace fathom
