#include "server/probing/orders/run_selection.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

UnitTypeOffer offer(const std::string& center, const std::string& name, std::int64_t units,
                    std::vector<std::string> operators)
{
    UnitTypeOffer offer;
    offer.id = {"ut_" + center + name};
    offer.name = name;
    offer.center_id = {"ctr_" + center};
    offer.center = center;
    offer.unit_count = units;
    offer.operators = std::move(operators);
    return offer;
}

/// M8's golden table.
std::vector<UnitTypeOffer> golden_offers()
{
    return {offer("alpha", "u1", 10, {"op1", "op3", "op4"}), offer("alpha", "u2", 20, {"op1", "op2", "op3", "op5"}),
            offer("alpha", "u3", 5, {"op1", "op2", "op5"})};
}

std::vector<OperatorUse> uses(std::initializer_list<const char*> ids)
{
    std::vector<OperatorUse> list;
    for (const char* id : ids) {
        OperatorUse use;
        use.id = id;
        list.push_back(use);
    }
    return list;
}

std::vector<std::string> names(const Result<Selection>& chosen)
{
    std::vector<std::string> list;
    for (const SelectedPlace& one : chosen.value().places)
        list.push_back(one.offer.name);
    return list;
}

CenterAnswer answer(const std::string& center, std::initializer_list<const char*> able)
{
    CenterAnswer answer;
    answer.center_id = {"ctr_" + center};
    answer.center = center;
    for (const char* name : able)
        answer.able.push_back({name, 1, 1});
    return answer;
}

TEST(SelectUnitTypes, GoldenCatalogOfM8)
{
    const SelectionOrder catalog;

    EXPECT_THAT(names(select_unit_types(catalog, uses({"op1", "op3"}), golden_offers())), ElementsAre("u1", "u2"));
    EXPECT_THAT(names(select_unit_types(catalog, uses({"op2", "op5"}), golden_offers())), ElementsAre("u2", "u3"));
    const auto nowhere = select_unit_types(catalog, uses({"op4", "op5"}), golden_offers());
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, Errc::kInfeasible);
    const Error error = nowhere.error();
    ASSERT_EQ(error.fields.size(), 3U);
    EXPECT_EQ(error.fields[0].field, "alpha/u1");
    EXPECT_EQ(error.fields[0].detail, "does not offer op5");
}

TEST(SelectUnitTypes, TheCatalogLeavesOutWhatIsTooSmallOrClosed)
{
    std::vector<UnitTypeOffer> offers = golden_offers();
    offers[1].closed_reason = "the center is drained";
    SelectionOrder order;
    order.unit_counts = {6};

    EXPECT_THAT(names(select_unit_types(order, uses({"op1"}), offers)), ElementsAre("u1"));
}

TEST(SelectUnitTypes, TheUserPicksByIdOrByName)
{
    SelectionOrder order;
    order.selection = RunSelection::kUser;
    order.unit_types = {"alpha/u3", "ut_alphau1", "alpha/u3"};

    EXPECT_THAT(names(select_unit_types(order, uses({"op1"}), golden_offers())), ElementsAre("u3", "u1"));
}

TEST(SelectUnitTypes, AWrongPickIsAnErrorOfItsField)
{
    SelectionOrder order;
    order.selection = RunSelection::kUser;
    order.unit_types = {"alpha/u1", "alpha/none", "alpha/u3"};

    const auto chosen = select_unit_types(order, uses({"op3"}), golden_offers());

    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, Errc::kInvalid);
    const Error error = chosen.error();
    ASSERT_EQ(error.fields.size(), 2U);
    EXPECT_EQ(error.fields[0].field, "unit_types[1]");
    EXPECT_EQ(error.fields[1].field, "unit_types[2]");
    EXPECT_EQ(error.fields[1].detail, "does not offer op3");
}

TEST(SelectUnitTypes, EachCenterChoosesAmongItsOwn)
{
    std::vector<UnitTypeOffer> offers = golden_offers();
    offers.push_back(offer("beta", "big", 1, {"op1", "op2"}));
    offers.push_back(offer("gamma", "gpu", 4, {"op9"}));
    SelectionOrder order;
    order.selection = RunSelection::kCenter;

    EXPECT_THAT(names(select_unit_types(order, uses({"op2"}), offers)), ElementsAre("u2", "big"));
    order.centers = {"beta"};
    EXPECT_THAT(names(select_unit_types(order, uses({"op2"}), offers)), ElementsAre("big"));
    order.centers = {"beta", "gamma"};
    EXPECT_EQ(select_unit_types(order, uses({"op2"}), offers).error().code, Errc::kInfeasible)
        << "gamma was named and cannot";
    order.centers = {"nowhere"};
    EXPECT_EQ(select_unit_types(order, uses({"op2"}), offers).error().code, Errc::kInvalid);
}

TEST(SelectUnitTypes, CentersThatAreAskedSayForThemselves)
{
    SelectionOrder order;
    order.selection = RunSelection::kAsk;
    std::vector<UnitTypeOffer> offers = golden_offers();
    offers.push_back(offer("beta", "big", 1, {"op1"}));
    offers.push_back(offer("gamma", "gpu", 4, {"op1"}));
    CenterAnswer silent = answer("gamma", {});
    silent.no_answer = "it did not answer within 5 s";
    CenterAnswer able = answer("alpha", {"u3", "u1", "gone"});
    able.unable.push_back({"u2", "broken"});
    const std::vector<CenterAnswer> answers{able, answer("beta", {}), silent};

    const Result<Selection> chosen = select_unit_types(order, uses({"op4"}), offers, answers);

    EXPECT_THAT(names(chosen), ElementsAre("u1", "u3")) << "the catalog does not say that u3 runs op4; its center does";
    EXPECT_THAT(chosen.value().places[0].able_unit_types, ElementsAre("u3", "u1", "gone"));
    ASSERT_EQ(chosen.value().left_out.size(), 1U);
    EXPECT_EQ(chosen.value().left_out[0].field, "gamma");

    order.centers = {"gamma"};
    const Error nobody = select_unit_types(order, uses({"op4"}), offers, std::vector{silent}).error();
    EXPECT_EQ(nobody.code, Errc::kInfeasible);
    EXPECT_EQ(nobody.fields.at(0).detail, "it did not answer within 5 s");
    order.centers = {"alpha"};
    const Error reasons =
        select_unit_types(order, uses({"op1"}), golden_offers(), std::vector{answer("alpha", {})}).error();
    EXPECT_EQ(reasons.fields.at(0).detail, "its center does not name it");
}

TEST(SelectUnitTypes, SeveralCountsRunWhereThereAreSoManyUnits)
{
    SelectionOrder order;
    order.unit_counts = {1, 8, 15};

    const Selection chosen = select_unit_types(order, uses({"op1"}), golden_offers()).value();

    ASSERT_EQ(chosen.places.size(), 3U);
    EXPECT_THAT(chosen.places[0].unit_counts, ElementsAre(1, 8));
    EXPECT_THAT(chosen.places[1].unit_counts, ElementsAre(1, 8, 15));
    EXPECT_THAT(chosen.places[2].unit_counts, ElementsAre(1));
    ASSERT_EQ(chosen.left_out.size(), 3U);
    EXPECT_EQ(chosen.left_out[0].field, "alpha/u1");
    EXPECT_EQ(chosen.left_out[0].detail, "has 10 units, 15 are asked for");
}

TEST(SelectUnitTypes, CountsOfScalingGoFromOneToAll)
{
    SelectionOrder order;
    order.count_by = CountBy::kScaling;

    const Selection chosen = select_unit_types(order, uses({"op2", "op5"}), golden_offers()).value();

    ASSERT_EQ(chosen.places.size(), 2U);
    EXPECT_THAT(chosen.places[0].unit_counts, testing::SizeIs(5));
    EXPECT_EQ(chosen.places[0].unit_counts.front(), 1);
    EXPECT_EQ(chosen.places[0].unit_counts.back(), 20);
    EXPECT_THAT(chosen.places[1].unit_counts, ElementsAre(1, 2, 3, 4, 5));
}

TEST(SelectUnitTypes, CopiesRunWhereUnitsAreOfOneHost)
{
    std::vector<UnitTypeOffer> offers = golden_offers();
    offers[1].copies_obstacle = "its center does not run jobs itself";
    SelectionOrder order;
    order.mode = ScalingMode::kThroughput;
    order.count_by = CountBy::kScaling;

    const Selection chosen = select_unit_types(order, uses({"op1"}), offers).value();
    ASSERT_EQ(chosen.places.size(), 2U);
    EXPECT_EQ(chosen.places[0].offer.name, "u1");
    EXPECT_THAT(chosen.places[0].unit_counts, ElementsAre(10, 2, 6));
    EXPECT_EQ(chosen.places[1].offer.name, "u3");

    order.selection = RunSelection::kUser;
    order.unit_types = {"alpha/u2"};
    const auto refused = select_unit_types(order, uses({"op1"}), offers);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().fields.at(0).detail, HasSubstr("does not run jobs itself"));
}

TEST(SelectUnitTypes, CopiesNeedTwoUnits)
{
    SelectionOrder order;
    order.mode = ScalingMode::kThroughput;
    order.count_by = CountBy::kScaling;
    const auto refused = select_unit_types(order, uses({"op1"}), {offer("alpha", "u1", 1, {"op1"})});

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().fields.at(0).detail, HasSubstr("has 1 units, 2 are asked for"));
}

TEST(SelectUnitTypes, ACountThatIsLeftToTheCenterIsZero)
{
    SelectionOrder order;
    order.count_by = CountBy::kCenter;

    EXPECT_THAT(select_unit_types(order, uses({"op4"}), golden_offers()).value().places[0].unit_counts, ElementsAre(0));
}

TEST(SelectUnitTypes, AnEmptyNetworkIsInfeasible)
{
    EXPECT_EQ(select_unit_types({}, uses({"op1"}), {}).error().code, Errc::kInfeasible);
}

} // namespace
} // namespace fathom::server
