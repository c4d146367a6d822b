#include "server/centers/centers_store.hpp"
#include "server/centers/unit_use_store.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using testing::ElementsAre;

/// alpha and beta offer u1 (10 units), u2 (20) and u3 (5), each.
class UnitUseTest : public testing::Test {
  protected:
    UnitUseTest()
    {
        test::add_center(store_, "alpha", test::golden_catalog());
        test::add_center(store_, "beta", test::golden_catalog());
    }
    ~UnitUseTest() override { store_.database().stop(); }

    /// An attempt on a unit type of that center; more `columns` of it, each after a comma, with their `values`.
    void attempt(const std::string& center, const std::string& unit_type, int units, const std::string& columns = "",
                 const std::string& values = "")
    {
        const std::string job = JobId::make().value;
        store_.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('" + job +
                   "', 'j', 'p', '{}', 't')");
        store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by" + columns +
                   ") SELECT '" + AttemptId::make().value + "', '" + job + "', 1, c.id, u.id, " +
                   std::to_string(units) + ", 'r'" + values +
                   " FROM unit_type u JOIN center c ON c.id = u.center_id WHERE c.name = '" + center +
                   "' AND u.name = '" + unit_type + "'");
    }
    UnitUse use(std::int64_t most)
    {
        return store_
            .run([most](pqxx::work& transaction) -> Result<UnitUse> { return select_unit_use(transaction, most); })
            .value();
    }
    CenterRecord center(const std::string& name)
    {
        return store_
            .run([&](pqxx::work& transaction) -> Result<CenterRecord> {
                return select_center(transaction, name).value();
            })
            .value();
    }

    test::TestStore store_;
};

std::vector<std::string> fullest_of(const UnitUse& use)
{
    std::vector<std::string> named;
    for (const FullUnitType& one : use.fullest)
        named.push_back(one.center + "/" + one.name + " " + std::to_string(one.units_in_use));
    return named;
}

TEST_F(UnitUseTest, NamesTheFullestFirstAndCountsAllOfThem)
{
    attempt("beta", "u1", 4);
    attempt("alpha", "u2", 5, ", state", ", 'running'");
    attempt("alpha", "u2", 1);

    const UnitUse found = use(3);

    EXPECT_THAT(fullest_of(found), ElementsAre("beta/u1 4", "alpha/u2 6", "alpha/u1 0"));
    EXPECT_EQ(found.unit_type_count, 6);
    EXPECT_EQ(found.unit_count, 70);
    EXPECT_EQ(found.units_in_use, 10);
    EXPECT_EQ(use(100).fullest.size(), 6U);
    EXPECT_EQ(to_json(found)["fullest"][0]["center"], "beta");
}

TEST_F(UnitUseTest, WhatHasEndedOrOnlyWaitsForItsUnitUsesNone)
{
    attempt("alpha", "u1", 3, ", state, outcome", ", 'ended', 'exited'");
    attempt("alpha", "u1", 1, ", queued_until", ", now() + interval '1 hour'");

    EXPECT_EQ(use(1).units_in_use, 0);
    EXPECT_EQ(center("alpha").units_in_use, 0);
}

TEST_F(UnitUseTest, WhatIsNotOfferedAnyMoreCountsForNeitherTheNetworkNorItsCenter)
{
    attempt("alpha", "u1", 3);
    attempt("alpha", "u3", 2);
    attempt("beta", "u3", 5);
    store_.sql("UPDATE unit_type SET active = false WHERE name = 'u1'");

    EXPECT_EQ(use(1).unit_type_count, 4);
    EXPECT_EQ(use(1).unit_count, 50);
    EXPECT_EQ(use(1).units_in_use, 7);
    EXPECT_EQ(center("alpha").unit_type_count, 2);
    EXPECT_EQ(center("alpha").unit_count, 25);
    EXPECT_EQ(center("alpha").units_in_use, 2);
    EXPECT_EQ(to_json(center("beta"))["units_in_use"], 5);
}

TEST(UnitUse, IsNothingInAnEmptyNetwork)
{
    test::TestStore store;
    const UnitUse found =
        store.run([](pqxx::work& transaction) -> Result<UnitUse> { return select_unit_use(transaction, 12); }).value();
    EXPECT_EQ(found.unit_type_count, 0);
    EXPECT_EQ(to_json(found)["fullest"], Json::array());
    store.database().stop();
}

TEST(AdvisedUnitTypes, AreListedWithoutTheOthersPageByPage)
{
    test::TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());
    test::add_measurement(store, {.operator_id = "op1", .median_s = 1});
    store.sql(R"(UPDATE probe_run SET result = '{"wall_s": 1, "cores": 5, "unit_count": 1, )"
              R"("host": {"transparent_hugepages": "never"}, )"
              R"("operators": [{"id": "op1", "operations": 20, "median_s": 1}]}')");

    const auto page = [&](std::int64_t size, const std::string& after) {
        return store
            .run([&](pqxx::work& transaction) -> Result<Page<UnitTypeRecord>> {
                return select_unit_types(transaction, "", size, after, UnitTypesWanted::kAdvised);
            })
            .value();
    };

    const Page<UnitTypeRecord> all = page(10, "");
    ASSERT_EQ(all.items.size(), 1U);
    EXPECT_EQ(all.items[0].name, "u1");
    EXPECT_EQ(all.items[0].advice.at(0).kind, "hugepages");
    EXPECT_EQ(all.next_after, "");
    const Page<UnitTypeRecord> first = page(1, "");
    EXPECT_EQ(first.items.size(), 1U);
    const Page<UnitTypeRecord> second = page(1, first.next_after);
    EXPECT_TRUE(second.items.empty()) << "u2 has no advice";
    EXPECT_NE(second.next_after, "") << "and u3 comes after it";
    EXPECT_EQ(page(1, second.next_after).next_after, "");
    store.database().stop();
}

} // namespace
} // namespace fathom::server
