#include "server/calendar/maintenance_service.hpp"
#include "server/calendar/reservation_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Reservations and maintenance as the router keeps to them.
class Calendar : public JobsFixture {
  protected:
    Result<AdvanceReservation> reserve(const std::string& project, std::int64_t units, std::chrono::seconds from,
                                       std::chrono::seconds to, const std::string& who = "tok_admin",
                                       const std::string& center = "alpha")
    {
        ReservationService::Wanted wanted{.project = project,
                                          .center = center,
                                          .unit_type = "core",
                                          .unit_count = units,
                                          .period = {clock_.now() + from, clock_.now() + to}};
        return run(reservations_.create({who, "req"}, std::move(wanted), ReservationService::Right::kAny));
    }
    Result<MaintenanceService::Planned> close(std::chrono::seconds from, std::chrono::seconds to)
    {
        MaintenanceService::Wanted wanted{.center = "alpha",
                                          .unit_type = {},
                                          .period = {clock_.now() + from, clock_.now() + to},
                                          .reason = "cooling"};
        return run(maintenance_.plan({"tok_admin", "req"}, std::move(wanted)));
    }
    JobId submit_for(const std::string& project, std::int64_t units, std::int64_t executions = 100)
    {
        return submit(spec({{"project", project},
                            {"units", {{"count", units}}},
                            {"operators", {{{"id", "dgemm"}, {"count", executions}}}}}));
    }
    /// A center of so many units on which one execution takes 10 ms.
    void add_alpha(std::int64_t units)
    {
        add_operators();
        add_measurement(add_center("alpha", units), 0.01);
    }
    std::string reason_of(const JobId& job)
    {
        return sql("SELECT waiting_reason FROM job WHERE id = '" + job.value + "'");
    }

    ReservationService reservations_{database_};
    MaintenanceService maintenance_{database_};
};

TEST_F(Calendar, UnitsAreKeptForTheJobsOfTheProject)
{
    add_alpha(4);
    ASSERT_TRUE(reserve("p", 3, 0s, 3600s));
    reload_catalog();

    const JobId others = submit_for("q", 2);
    const JobId one = submit_for("q", 1);
    const JobId own = submit_for("p", 3);
    route();

    EXPECT_EQ(state_of(others), "queued");
    EXPECT_EQ(state_of(one), "placed");
    EXPECT_EQ(state_of(own), "placed");
}

TEST_F(Calendar, OnlyJobsThatEndBeforeItRunUpToAReservation)
{
    add_alpha(2);
    ASSERT_TRUE(reserve("p", 2, 60s, 3600s));
    reload_catalog();

    const JobId quick = submit_for("q", 1, 1000); // 10 s
    const JobId slow = submit_for("q", 1, 10000); // 100 s
    route();

    EXPECT_EQ(state_of(quick), "placed");
    EXPECT_EQ(state_of(slow), "queued");
}

TEST_F(Calendar, AJobThatCouldNotEndBeforeAMaintenanceStartsAfterIt)
{
    add_alpha(2);
    ASSERT_TRUE(close(60s, 7200s));
    reload_catalog();

    const JobId quick = submit_for("q", 1, 1000);
    const JobId slow = submit_for("q", 1, 10000);
    route();

    EXPECT_EQ(state_of(quick), "placed");
    EXPECT_EQ(state_of(slow), "queued");
    EXPECT_THAT(reason_of(slow), ::testing::HasSubstr("maintenance of alpha"));
    const Json placement = Json::parse(call(net::Method::kGet, "/jobs/" + slow.value + "/placement").body);
    EXPECT_NEAR(placement["decision"]["candidates"][0]["closed_until_s"].get<double>(), 7200, 60);
}

TEST_F(Calendar, WhatWasReservedAfterTheSnapshotCountsUnderTheLock)
{
    add_alpha(2);
    ASSERT_TRUE(reserve("p", 2, 0s, 3600s)); // the catalog is older
    const JobId job = submit_for("q", 1);

    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();
    EXPECT_EQ(state_of(job), "queued");

    sql("UPDATE advance_reservation SET cancelled_at = now()");
    ASSERT_TRUE(close(0s, 3600s));
    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();
    EXPECT_EQ(state_of(job), "queued");
}

TEST_F(Calendar, WhatBeginsWhileAPageWaitsForTheLockCounts)
{
    add_alpha(2);
    ASSERT_TRUE(reserve("p", 2, 60s, 3600s));
    reload_catalog();
    const JobId job = submit_for("q", 1, 1000); // 10 s: ends before the reservation, if it starts now
    pqxx::connection connection(url_);
    pqxx::work lock(connection);
    lock.exec("SELECT id FROM unit_type FOR UPDATE");

    auto routed = io_.spawn(routing_.run_cycle(RoutingService::Wake::kTick));
    ASSERT_TRUE(test::eventually([this] { return sql("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0"; }));
    clock_.advance(55s);
    lock.abort();

    EXPECT_EQ(test::TestIo::get(std::move(routed)).value(), 0);
    EXPECT_EQ(state_of(job), "queued");
}

TEST_F(Calendar, EndsAndReservationsCountFromOneMomentUnderTheLock)
{
    clock_.advance(-60s); // a replica's clock is not the database's
    add_alpha(3);
    submit_for("q", 1, 10000); // 100 s
    route();
    ASSERT_TRUE(reserve("p", 2, 90s, 3600s)); // the catalog is older
    const JobId job = submit_for("q", 1, 20000);

    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();

    EXPECT_EQ(state_of(job), "queued") << "when the reservation begins, the first job has 10 s to go";
}

TEST_F(Calendar, AJobThatRunsWhenAReservationBeginsKeepsItsUnits)
{
    add_alpha(2);
    const JobId running = submit_for("q", 1, 100000); // 1000 s
    route();
    ASSERT_TRUE(reserve("p", 2, 0s, 3600s));
    reload_catalog();
    const JobId first = submit_for("p", 1);
    const JobId second = submit_for("p", 1);
    route();

    EXPECT_EQ(state_of(running), "placed");
    EXPECT_EQ(state_of(first), "placed") << "the reservation gets what is free";
    EXPECT_EQ(state_of(second), "queued");
}

TEST_F(Calendar, MoreThanThereIsIsNeverReserved)
{
    add_alpha(4);
    ASSERT_TRUE(reserve("p", 3, 3600s, 7200s));

    const Result<AdvanceReservation> too_many = reserve("q", 2, 1800s, 5400s);

    ASSERT_FALSE(too_many);
    EXPECT_EQ(too_many.error().code, Errc::kConflict);
    EXPECT_THAT(too_many.error().detail, ::testing::StartsWith("1 unit of alpha/core is free for all of that time"));
    EXPECT_TRUE(reserve("q", 1, 1800s, 5400s));
    EXPECT_TRUE(reserve("q", 4, 7300s, 9000s));
    EXPECT_EQ(reserve("q", 5, 0s, 60s).error().code, Errc::kInfeasible);
    ASSERT_FALSE(close(0s, 5400s)) << "reservations lie in the way";
}

TEST_F(Calendar, NothingIsReservedDuringAMaintenance)
{
    add_alpha(4);
    ASSERT_TRUE(close(3600s, 7200s));

    EXPECT_EQ(reserve("p", 1, 5400s, 9000s).error().code, Errc::kConflict);
    EXPECT_TRUE(reserve("p", 4, 0s, 3000s));
}

TEST_F(Calendar, AProjectReservesWithinWhatItMayTake)
{
    add_alpha(4);
    sql("INSERT INTO project (name, max_units, centers, changed_by) VALUES ('p', 2, '{beta}', 'x')");

    const Result<AdvanceReservation> refused = reserve("p", 3, 0s, 60s);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInfeasible);
    EXPECT_EQ(refused.error().fields.size(), 2U);
}

TEST_F(Calendar, AProjectHoldsNoMoreByAllItsReservationsThanItMay)
{
    add_alpha(10);
    add_center("beta", 10);
    sql("INSERT INTO project (name, max_units, changed_by) VALUES ('p', 4, 'x')");
    ASSERT_TRUE(reserve("p", 3, 3600s, 7200s));

    const Result<AdvanceReservation> elsewhere = reserve("p", 2, 1800s, 5400s, "tok_admin", "beta");

    ASSERT_FALSE(elsewhere);
    EXPECT_EQ(elsewhere.error().code, Errc::kConflict);
    EXPECT_THAT(elsewhere.error().detail,
                ::testing::StartsWith("1 unit of the 4 that project p may hold at once is free for all of that time"));
    EXPECT_EQ(reserve("p", 2, 1800s, 5400s).error().code, Errc::kConflict);
    EXPECT_TRUE(reserve("p", 1, 1800s, 5400s, "tok_admin", "beta"));
    EXPECT_TRUE(reserve("p", 4, 7300s, 9000s, "tok_admin", "beta")) << "the others have ended";
    EXPECT_TRUE(reserve("q", 7, 3600s, 7200s)) << "another project";
}

TEST_F(Calendar, AProjectAndACallerHaveAHundredOpenReservationsAtMost)
{
    add_alpha(4);
    sql("INSERT INTO advance_reservation (id, project, center_id, unit_type_id, unit_count, starts_at, ends_at, "
        "created_by) SELECT 'rsv_' || n, 'p', u.center_id, u.id, 1, now() + interval '10 days', "
        "now() + interval '11 days', 'tok_one' FROM unit_type u, generate_series(1, 100) n");

    EXPECT_EQ(reserve("p", 1, 0s, 60s, "tok_two").error().code, Errc::kTooMany);
    EXPECT_EQ(reserve("q", 1, 0s, 60s, "tok_one").error().code, Errc::kTooMany);
    EXPECT_TRUE(reserve("q", 1, 0s, 60s, "tok_two"));
    sql("UPDATE advance_reservation SET cancelled_at = now() WHERE id = 'rsv_1'");
    EXPECT_TRUE(reserve("p", 1, 0s, 60s, "tok_one"));
}

TEST_F(Calendar, NothingIsReservedForUnknownProjectsWhereTheyMustExist)
{
    add_alpha(4);
    ReservationService strict(database_, UnknownProjects::kRefuse);
    const auto reserve_for = [&](const std::string& project) {
        ReservationService::Wanted wanted{.project = project,
                                          .center = "alpha",
                                          .unit_type = "core",
                                          .unit_count = 1,
                                          .period = {clock_.now(), clock_.now() + 60s}};
        return run(strict.create({"tok_admin", "req"}, std::move(wanted), ReservationService::Right::kAny));
    };
    submit_for("physics", 1);
    sql("INSERT INTO project (name, changed_by) VALUES ('materials', 'x')");

    const Result<AdvanceReservation> refused = reserve_for("materiels");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInvalid);
    EXPECT_EQ(refused.error().fields.at(0).detail, "there is no project materiels; did you mean materials?");
    EXPECT_TRUE(reserve_for("materials")) << "has settings";
    EXPECT_TRUE(reserve_for("physics")) << "has jobs";
    EXPECT_TRUE(reserve_for("default"));
}

TEST_F(Calendar, OnlyWhoMadeAReservationOrManagesTheNetworkCancelsIt)
{
    add_alpha(4);
    const std::string id = reserve("p", 1, 0s, 60s, "tok_one").value().id.value;
    using Whose = ReservationService::Whose;

    EXPECT_EQ(run(reservations_.cancel({"tok_two", "req"}, id, Whose::kOwn)).error().code, Errc::kForbidden);
    EXPECT_EQ(run(reservations_.cancel({"tok_two", "req"}, id, Whose::kAnybodys)).value().state, "cancelled");
    EXPECT_EQ(sql("SELECT count(*) FROM audit_log WHERE action LIKE 'reservation.%'"), "2");
    EXPECT_EQ(run(reservations_.cancel({"tok_one", "req"}, "rsv_none", Whose::kOwn)).error().code, Errc::kNotFound);
}

} // namespace
} // namespace fathom::server
