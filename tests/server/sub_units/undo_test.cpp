#include "tests/server/sub_units/broker_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::BrokerFixture;
using testing::HasSubstr;

/// Four sub-units went from I to II.
class SubUnitUndo : public testing::Test {
  protected:
    SubUnitUndo()
    {
        fixture_.ask("II", "gain", 4).value();
        fixture_.ask("I", "release", 4).value();
        fixture_.settle();
    }

    Result<SubUnitRequestRecord> undo(const SubUnitGrantRecord& grant)
    {
        return fixture_.io.run(fixture_.service.undo(fixture_.admin, grant.id.value));
    }

    BrokerFixture fixture_;
    CenterId one_ = fixture_.add("I", 10);
    CenterId two_ = fixture_.add("II", 10);
};

TEST_F(SubUnitUndo, BringsBothSidesBackByNewRecordedChanges)
{
    const SubUnitGrantRecord grant = fixture_.grants().at(0);

    const SubUnitRequestRecord release = undo(grant).value();
    EXPECT_EQ(release.undo_of, grant.id.value);
    EXPECT_EQ(undo(grant).value().id, release.id) << "asked twice";
    fixture_.settle();

    EXPECT_EQ(fixture_.held(one_), 10);
    EXPECT_EQ(fixture_.held(two_), 10);
    const std::vector<SubUnitGrantRecord> grants = fixture_.grants();
    ASSERT_EQ(grants.size(), 2U);
    EXPECT_EQ(grants[0].state, "undone");
    EXPECT_EQ(grants[1].undo_of, grant.id.value);
    EXPECT_EQ(grants[1].to_center_id, one_.value);
    EXPECT_EQ(grants[1].state, "granted");
    EXPECT_EQ(fixture_.store.sql("SELECT count(*) FROM sub_unit_event WHERE event = 'undone' AND actor = 'tok_admin'"),
              "1");
    EXPECT_EQ(fixture_.store.sql("SELECT count(*) FROM audit_log WHERE action = 'sub_units.undo'"), "1");
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitUndo, GoesPastThoseThatWait)
{
    const CenterId three = fixture_.add("III", 0);
    fixture_.ask("III", "gain", 10).value();

    undo(fixture_.grants().at(0)).value();
    fixture_.settle();

    EXPECT_EQ(fixture_.held(one_), 10);
    EXPECT_EQ(fixture_.held(three), 0);
}

TEST_F(SubUnitUndo, IsRefusedWhileJobsUseTheSubUnits)
{
    fixture_.run_job(two_, 11);

    const Result<SubUnitRequestRecord> refused = undo(fixture_.grants().at(0));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kConflict);
    EXPECT_THAT(refused.error().detail, HasSubstr("jobs use 11 units of II/part"));
    EXPECT_EQ(fixture_.held(two_), 14);
    fixture_.end_jobs();
    EXPECT_TRUE(undo(fixture_.grants().at(0)));
}

TEST_F(SubUnitUndo, IsRefusedForWhatIsNotThere)
{
    const SubUnitGrantRecord grant = fixture_.grants().at(0);
    fixture_.ask("II", "release", 12).value();
    fixture_.settle();
    EXPECT_THAT(undo(grant).error().detail, HasSubstr("has only 2 sub-units"));

    fixture_.ask("II", "gain", 12).value();
    fixture_.settle();
    undo(grant).value();
    fixture_.settle();
    EXPECT_THAT(undo(grant).error().detail, HasSubstr("this grant is undone"));
    EXPECT_EQ(fixture_.io.run(fixture_.service.undo(fixture_.admin, "sug_none")).error().code, Errc::kNotFound);
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitUndo, OfAnUndoMovesThemOnceMore)
{
    undo(fixture_.grants().at(0)).value();
    fixture_.settle();

    undo(fixture_.grants().at(1)).value();
    fixture_.settle();

    EXPECT_EQ(fixture_.held(one_), 6);
    EXPECT_EQ(fixture_.held(two_), 14);
}

TEST_F(SubUnitUndo, WhatTheFirstCenterWillNotTakeBackIsForOthers)
{
    undo(fixture_.grants().at(0)).value();
    while (fixture_.grants().size() < 2)
        fixture_.follow(two_);

    fixture_.refuse(one_, "no free slot");
    fixture_.settle();
    EXPECT_EQ(fixture_.free_count(), 4);
    const CenterId three = fixture_.add("III", 0);
    fixture_.ask("III", "gain", 4).value();
    fixture_.settle();

    EXPECT_EQ(fixture_.held(three), 4);
    EXPECT_EQ(fixture_.missing(), 0);
}

} // namespace
} // namespace fathom::server
