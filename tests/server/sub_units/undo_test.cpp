#include "tests/server/sub_units/broker_house.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::BrokerHouse;
using testing::HasSubstr;

/// Four sub-units went from I to II.
class SubUnitUndo : public testing::Test {
  protected:
    SubUnitUndo()
    {
        house_.ask("II", "gain", 4).value();
        house_.ask("I", "release", 4).value();
        house_.settle();
    }

    Result<SubUnitRequestRecord> undo(const SubUnitGrantRecord& grant)
    {
        return house_.io.run(house_.service.undo(house_.admin, grant.id.value));
    }

    BrokerHouse house_;
    CenterId one_ = house_.add("I", 10);
    CenterId two_ = house_.add("II", 10);
};

TEST_F(SubUnitUndo, BringsBothSidesBackByNewRecordedChanges)
{
    const SubUnitGrantRecord grant = house_.grants().at(0);

    const SubUnitRequestRecord release = undo(grant).value();
    EXPECT_EQ(release.undo_of, grant.id.value);
    EXPECT_EQ(undo(grant).value().id, release.id) << "asked twice";
    house_.settle();

    EXPECT_EQ(house_.held(one_), 10);
    EXPECT_EQ(house_.held(two_), 10);
    const std::vector<SubUnitGrantRecord> grants = house_.grants();
    ASSERT_EQ(grants.size(), 2U);
    EXPECT_EQ(grants[0].state, "undone");
    EXPECT_EQ(grants[1].undo_of, grant.id.value);
    EXPECT_EQ(grants[1].to_center_id, one_.value);
    EXPECT_EQ(grants[1].state, "granted");
    EXPECT_EQ(house_.store.sql("SELECT count(*) FROM sub_unit_event WHERE event = 'undone' AND actor = 'tok_admin'"),
              "1");
    EXPECT_EQ(house_.store.sql("SELECT count(*) FROM audit_log WHERE action = 'sub_units.undo'"), "1");
    EXPECT_EQ(house_.missing(), 0);
}

TEST_F(SubUnitUndo, GoesPastThoseThatWait)
{
    const CenterId three = house_.add("III", 0);
    house_.ask("III", "gain", 10).value();

    undo(house_.grants().at(0)).value();
    house_.settle();

    EXPECT_EQ(house_.held(one_), 10);
    EXPECT_EQ(house_.held(three), 0);
}

TEST_F(SubUnitUndo, IsRefusedWhileJobsUseTheSubUnits)
{
    house_.run_job(two_, 11);

    const Result<SubUnitRequestRecord> refused = undo(house_.grants().at(0));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kConflict);
    EXPECT_THAT(refused.error().detail, HasSubstr("jobs use 11 units of II/part"));
    EXPECT_EQ(house_.held(two_), 14);
    house_.end_jobs();
    EXPECT_TRUE(undo(house_.grants().at(0)));
}

TEST_F(SubUnitUndo, IsRefusedForWhatIsNotThere)
{
    const SubUnitGrantRecord grant = house_.grants().at(0);
    house_.ask("II", "release", 12).value();
    house_.settle();
    EXPECT_THAT(undo(grant).error().detail, HasSubstr("has only 2 sub-units"));

    house_.ask("II", "gain", 12).value();
    house_.settle();
    undo(grant).value();
    house_.settle();
    EXPECT_THAT(undo(grant).error().detail, HasSubstr("this grant is undone"));
    EXPECT_EQ(house_.io.run(house_.service.undo(house_.admin, "sug_none")).error().code, Errc::kNotFound);
    EXPECT_EQ(house_.missing(), 0);
}

TEST_F(SubUnitUndo, OfAnUndoMovesThemOnceMore)
{
    undo(house_.grants().at(0)).value();
    house_.settle();

    undo(house_.grants().at(1)).value();
    house_.settle();

    EXPECT_EQ(house_.held(one_), 6);
    EXPECT_EQ(house_.held(two_), 14);
}

TEST_F(SubUnitUndo, WhatTheFirstCenterWillNotTakeBackIsForOthers)
{
    undo(house_.grants().at(0)).value();
    while (house_.grants().size() < 2)
        house_.follow(two_);

    house_.refuse(one_, "no free slot");
    house_.settle();
    EXPECT_EQ(house_.free_count(), 4);
    const CenterId three = house_.add("III", 0);
    house_.ask("III", "gain", 4).value();
    house_.settle();

    EXPECT_EQ(house_.held(three), 4);
    EXPECT_EQ(house_.missing(), 0);
}

} // namespace
} // namespace fathom::server
