// What is removed of requests, grants and their record, and what stays.
#include "server/retention/retention_task.hpp"
#include "tests/server/sub_units/broker_fixture.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using test::BrokerFixture;

class SubUnitRetention : public testing::Test {
  protected:
    /// All that is there becomes so many days older.
    void age(int by_days)
    {
        const std::string older = " - interval '" + std::to_string(by_days) + " days'";
        fixture_.store.sql("UPDATE sub_unit_request SET created_at = created_at" + older + ", ended_at = ended_at" +
                           older);
        fixture_.store.sql("UPDATE sub_unit_grant SET created_at = created_at" + older + ", ended_at = ended_at" +
                           older);
        fixture_.store.sql("ALTER TABLE sub_unit_event DISABLE TRIGGER sub_unit_event_is_final");
        fixture_.store.sql("UPDATE sub_unit_event SET at = at" + older);
        fixture_.store.sql("ALTER TABLE sub_unit_event ENABLE TRIGGER sub_unit_event_is_final");
    }
    /// A turn of the periodic task; how many rows went.
    std::int64_t turn(RetentionRule rule = {})
    {
        RetentionTask task(fixture_.store.database(), clock_, metrics_, rule, {.pause = 0ms, .rows = 2});
        return fixture_.io.run(task.turn()).value().sub_units;
    }
    std::string sql(const std::string& text) const { return fixture_.store.sql(text); }
    /// Rows of requests, grants and the record.
    std::string rows() const
    {
        return sql("SELECT (SELECT count(*) FROM sub_unit_request) || ' ' || (SELECT count(*) FROM sub_unit_grant) || "
                   "' ' || (SELECT count(*) FROM sub_unit_event)");
    }
    std::string events() const { return sql("SELECT string_agg(event, ' ' ORDER BY id) FROM sub_unit_event"); }

    SystemClock clock_;
    Metrics metrics_;
    BrokerFixture fixture_;
    CenterId one_ = fixture_.add("I", 10);
    CenterId two_ = fixture_.add("II", 0);
};

TEST_F(SubUnitRetention, RemovesWhatEndedLongAgoWithItsRecord)
{
    fixture_.ask("II", "gain", 4).value();
    fixture_.ask("I", "release", 4).value();
    fixture_.settle();
    age(364);
    EXPECT_EQ(turn(), 0);
    EXPECT_EQ(rows(), "2 1 9");

    age(2);
    EXPECT_EQ(turn({.sub_units = days(0)}), 0) << "for ever";
    EXPECT_EQ(turn(), 12) << "more than a transaction takes";

    EXPECT_EQ(rows(), "0 0 0");
    EXPECT_EQ(fixture_.held(one_), 6);
    EXPECT_EQ(fixture_.held(two_), 4);
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitRetention, KeepsARequestThatWaitsAndItsHistory)
{
    const SubUnitRequestRecord gain = fixture_.ask("II", "gain", 5).value();
    age(400);

    EXPECT_EQ(turn(), 2) << "that both centers registered what they have";

    EXPECT_EQ(fixture_.request(gain.id).state, "waiting");
    EXPECT_EQ(events(), "asked");
}

TEST_F(SubUnitRetention, KeepsWhatIsFreeAndWhatMoves)
{
    fixture_.ask("II", "gain", 3).value();
    const SubUnitRequestRecord release = fixture_.ask("I", "release", 4).value();
    while (fixture_.grants().empty())
        fixture_.follow(one_);
    age(400);

    EXPECT_EQ(turn(), 2) << "of the record, what is of no request";
    EXPECT_EQ(rows(), "2 1 6");
    EXPECT_EQ(fixture_.missing(), 0);

    fixture_.follow(two_);
    EXPECT_EQ(fixture_.held(two_), 3);
    age(400);
    turn();
    EXPECT_EQ(rows().substr(0, 4), "1 0 ") << "one sub-unit of the release is free";
    EXPECT_EQ(fixture_.request(release.id).free_count, 1);
    fixture_.ask("II", "gain", 1).value();
    fixture_.settle();
    EXPECT_EQ(fixture_.held(two_), 4);
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitRetention, KeepsAGrantUntilItIsUndone)
{
    fixture_.ask("II", "gain", 4).value();
    fixture_.ask("I", "release", 4).value();
    fixture_.settle();
    const SubUnitGrantRecord grant = fixture_.grants().at(0);
    ASSERT_TRUE(fixture_.io.run(fixture_.service.undo(fixture_.admin, grant.id.value)));
    age(400);
    turn();
    ASSERT_EQ(fixture_.grants().size(), 1U);
    fixture_.settle();
    EXPECT_EQ(fixture_.held(one_), 10);
    EXPECT_EQ(fixture_.held(two_), 0);

    age(400);
    turn();
    turn(); // what referred to the others is gone now
    EXPECT_EQ(rows(), "0 0 0");
    EXPECT_EQ(fixture_.io.run(fixture_.service.undo(fixture_.admin, grant.id.value)).error().code, Errc::kNotFound);
    EXPECT_EQ(fixture_.missing(), 0);
}

TEST_F(SubUnitRetention, LeavesAKindAloneThatSomebodyChanges)
{
    age(400);
    pqxx::connection connection(fixture_.store.url());
    pqxx::work other(connection);
    other.exec("SELECT FROM sub_unit_kind WHERE kind = 'vgpu' FOR UPDATE");

    EXPECT_EQ(turn(), 0);
    other.abort();
    EXPECT_EQ(turn(), 2);
}

TEST_F(SubUnitRetention, OfTheRecordNobodyRemovesWhatIsYoung)
{
    EXPECT_ANY_THROW(sql("DELETE FROM sub_unit_event"));
    age(28);
    EXPECT_ANY_THROW(sql("DELETE FROM sub_unit_event"));
    age(2);
    sql("DELETE FROM sub_unit_event");

    EXPECT_EQ(rows(), "0 0 0");
}

} // namespace
} // namespace fathom::server
