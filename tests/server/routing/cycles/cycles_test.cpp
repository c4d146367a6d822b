#include "server/routing/cycles/cycle_api.hpp"
#include "server/routing/cycles/cycle_recorder.hpp"
#include "server/routing/cycles/cycle_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <set>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A router whose cycles are kept.
class Cycles : public JobsFixture {
  protected:
    Cycles() { add_operators(); }

    /// A job of 0.01 s × count on a unit that does dgemm in 0.01 s.
    JobId submit_dgemm(std::int64_t count, Json more = Json::object())
    {
        more["operators"] = {{{"id", "dgemm"}, {"count", count}}};
        return submit(spec(more));
    }
    void decide()
    {
        run(recorded_.run_cycle(RoutingService::Wake::kTick)).value();
        run(recorder_.write_all()).value();
    }
    std::vector<StoredCycle> newest() { return run(cycles_.list({}, "", 100)).value().items; }
    Json replay(const std::string& cycle, const std::string& job = "")
    {
        return run(cycles_.replay({CycleId::parse(cycle).value(), job, "tok_1"})).value();
    }
    std::int64_t remove(const CycleLimits& limits)
    {
        auto work = [&](pqxx::work& transaction) -> Result<std::int64_t> { return remove_cycles(transaction, limits); };
        return database_.blocking_run(work).value();
    }
    Json explain(const JobId& job)
    {
        return Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body);
    }

    CycleRecorder recorder_{database_, io_.executor(), metrics_, "rep_1"};
    RoutingService recorded_{io_.executor(),
                             {database_, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
                             {.replica = ReplicaId::make(), .recorder = &recorder_}};
    CycleService cycles_{database_, compute_};
};

TEST_F(Cycles, OfJobsThatCompeteComeOutAgain)
{
    add_measurement(add_center("alpha", 1), 0.01);
    add_measurement(add_center("beta", 1), 0.03);
    std::vector<JobId> jobs;
    for (int i = 0; i < 6; ++i)
        jobs.push_back(submit_dgemm(1000 + 200 * i, {{"project", i % 2 == 0 ? "even" : "odd"}}));

    decide();

    const std::vector<StoredCycle> kept = newest();
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].job_count, 6);
    EXPECT_EQ(kept[0].start_count, 2);
    const Json answer = replay(kept[0].id, jobs.back().value);
    EXPECT_TRUE(answer["is_same"]) << answer["differences"];
    EXPECT_EQ(answer["start_count"], 2);
    EXPECT_EQ(answer["wait_count"], 4);
    EXPECT_FALSE(answer["job"]["is_start"]);
    EXPECT_THAT(answer["job"]["waiting"]["reason"].get<std::string>(), HasSubstr("waits for a unit of "));
    EXPECT_EQ(answer["job"]["starts_before"].size(), 2U);
    EXPECT_THAT(answer["job"]["decision"]["counterfactuals"].dump(),
                HasSubstr("would run it now if its priority were "));
}

TEST_F(Cycles, TheirJobsAreListedWithTheirPlaces)
{
    add_measurement(add_center("alpha", 1), 0.01);
    add_measurement(add_center("beta", 1), 0.03);
    std::set<std::string> submitted;
    for (int i = 0; i < 5; ++i)
        submitted.insert(submit_dgemm(1000, {{"project", "p"}, {"priority", i}}).value);
    decide();
    const CycleId cycle = CycleId::parse(newest().at(0).id).value();

    const Page<CycleJob> first = run(cycles_.list_jobs(cycle, "tok_1", "", 3)).value();
    const Page<CycleJob> second = run(cycles_.list_jobs(cycle, "tok_1", first.next_after, 3)).value();

    ASSERT_EQ(first.items.size(), 3U);
    ASSERT_EQ(second.items.size(), 2U);
    EXPECT_EQ(second.next_after, "");
    std::set<std::string> listed;
    for (const Page<CycleJob>& page : {first, second}) {
        for (const CycleJob& job : page.items)
            listed.insert(job.job_id);
    }
    EXPECT_EQ(listed, submitted);
    const Json start = to_json(first.items[0]);
    EXPECT_EQ(start["is_start"], true);
    EXPECT_EQ(start["position"], 1);
    EXPECT_EQ(start["project"], "p");
    EXPECT_EQ(start["label"], "job");
    EXPECT_EQ((std::set<std::string>{first.items[0].center, first.items[1].center}),
              (std::set<std::string>{"alpha", "beta"}));
    EXPECT_EQ(start["place"]["unit_type"], "core");
    EXPECT_GT(start["place"]["run_s"].get<double>(), 0);
    EXPECT_EQ(start["waits_for"], nullptr);
    EXPECT_EQ(start["priority_rank"], nullptr);
    EXPECT_EQ(first.items[1].position, 2);
    const Json wait = to_json(second.items[0]);
    EXPECT_EQ(wait["is_start"], false);
    EXPECT_EQ(wait["position"], nullptr);
    EXPECT_EQ(wait["waits_for"], "units");
    EXPECT_LE(first.items[2].priority_rank, second.items[0].priority_rank);
    EXPECT_LE(second.items[0].priority_rank, second.items[1].priority_rank);
}

TEST_F(Cycles, AreKeptWithTheTimeThatTheyTook)
{
    add_measurement(add_center("alpha", 1), 0.01);
    submit_dgemm(1000);
    decide();
    const std::string id = newest().at(0).id;
    const auto get = [&] { return run(cycles_.get(CycleId::parse(id).value())).value(); };

    EXPECT_GT(get().decision_s, 0.0);
    EXPECT_LT(get().decision_s, 60.0);
    EXPECT_EQ(get().job_count, 1);
    sql("UPDATE schedule_cycle SET decision_s = NULL");
    EXPECT_EQ(to_json(get())["decision_s"], nullptr) << "as of an earlier version";
}

TEST_F(Cycles, AreFoundByTheirTime)
{
    add_cycle_routes(api_, cycles_);
    for (const char* hour : {"08", "09", "10", "11"})
        sql("INSERT INTO schedule_cycle (id, decided_at, decided_by, job_count, start_count, currency, catalog, input,"
            " plan, bytes) VALUES ('cyc_" +
            std::string(hour) + "', '2026-11-01T" + hour + ":00:00Z', 'rep_1', 1, 0, '', '', '', '', 0)");
    const auto ids = [this](const std::string& query) {
        const Json page = Json::parse(call(net::Method::kGet, "/cycles?" + query).body);
        std::vector<std::string> found;
        for (const Json& cycle : page["items"])
            found.push_back(cycle["id"].get<std::string>());
        return found;
    };
    using Ids = std::vector<std::string>;

    EXPECT_EQ(ids("since=2026-11-01T09:00:00Z&until=2026-11-01T11:00:00Z"), (Ids{"cyc_10", "cyc_09"}));
    EXPECT_EQ(ids("since=2026-11-01T10:00:00Z"), (Ids{"cyc_11", "cyc_10"}));
    EXPECT_EQ(ids("until=2026-11-01T09:00:00Z"), Ids{"cyc_08"});
    TimeRange from_nine;
    from_nine.since = parse_rfc3339("2026-11-01T09:00:00Z").value();
    const std::vector<StoredCycle> rest = run(cycles_.list(from_nine, "cyc_10", 10)).value().items;
    ASSERT_EQ(rest.size(), 1U) << "what is behind a page stays within the time";
    EXPECT_EQ(rest[0].id, "cyc_09");
    EXPECT_EQ(call(net::Method::kGet, "/cycles?since=2026-11-01T11:00:00Z&until=2026-11-01T09:00:00Z").status, 400);
}

TEST_F(Cycles, AnExplanationNamesItsCycleAndSaysWhatWouldHaveChangedIt)
{
    add_measurement(add_center("alpha", 1), 0.01);
    add_measurement(add_center("beta", 1), 0.03);
    const JobId first = submit_dgemm(1000);
    const JobId second = submit_dgemm(1000);

    decide();

    ASSERT_EQ(center_of(first).value, center_id("alpha"));
    ASSERT_EQ(center_of(second).value, center_id("beta"));
    const Json explained = explain(second);
    EXPECT_EQ(explained["cycle_id"], newest().at(0).id);
    EXPECT_THAT(explained["decision"]["rank_text"].get<std::string>(), HasSubstr("decided together"));
    EXPECT_THAT(explained["decision"]["counterfactuals"].dump(),
                HasSubstr("alpha/core would run it now if its priority were 1 instead of 0"));
}

TEST_F(Cycles, APlanThatWasChangedIsFoundOut)
{
    add_measurement(add_center("alpha", 1), 0.01);
    submit_dgemm(1000);
    submit_dgemm(2000);
    decide();
    const std::string cycle = newest().at(0).id;
    submit_dgemm(3000);
    decide();

    sql("UPDATE schedule_cycle SET plan = (SELECT plan FROM schedule_cycle WHERE id <> '" + cycle + "') WHERE id = '" +
        cycle + "'");

    const Json answer = replay(cycle);
    EXPECT_FALSE(answer["is_same"]);
    EXPECT_FALSE(answer["differences"].empty());
}

TEST_F(Cycles, TheirCatalogIsKeptOnceAndInPartsThatHaveNotChangedOnce)
{
    const std::string alpha = add_center("alpha", 1);
    add_measurement(alpha, 0.01);
    submit_dgemm(1000);
    submit_dgemm(1000);
    decide();
    const auto parts = [this] { return std::stoi(sql("SELECT count(*) FROM schedule_part")); };
    const int before = parts();

    reload_catalog(); // the same is read again
    decide();
    EXPECT_EQ(parts(), before);

    add_measurement(alpha, 0.02);
    reload_catalog();
    decide();

    EXPECT_EQ(newest().size(), 3U);
    EXPECT_EQ(parts(), before + 2) << "the unit type's, and the list";
    for (const StoredCycle& cycle : newest())
        EXPECT_TRUE(replay(cycle.id)["is_same"]);
}

TEST_F(Cycles, OtherLoadsOfTheSameCatalogAreOnePartMore)
{
    add_measurement(add_center("alpha", 1), 0.01);
    submit_dgemm(1000);
    submit_dgemm(1000);
    decide();
    const auto parts = [this] { return std::stoi(sql("SELECT count(*) FROM schedule_part")); };
    const int before = parts();
    run(unit_loads_.look()).value();

    decide();

    EXPECT_EQ(newest().size(), 2U);
    EXPECT_EQ(parts(), before + 2) << "the loads, and the list";
    for (const StoredCycle& cycle : newest())
        EXPECT_TRUE(replay(cycle.id)["is_same"]);
}

TEST_F(Cycles, TheOldestGoByAgeAndSize)
{
    add_measurement(add_center("alpha", 1), 0.01);
    submit_dgemm(1000);
    submit_dgemm(1000);
    for (int i = 0; i < 4; ++i)
        decide(); // one starts, the other waits
    const std::vector<StoredCycle> kept = newest();
    ASSERT_EQ(kept.size(), 4U);
    const Timestamp now = clock_.now();
    constexpr std::int64_t kAll = std::int64_t{1} << 40;
    EXPECT_EQ(remove({.most_bytes = kAll, .oldest = {}, .oldest_idle = now - 1h}), 0);

    // The newest that fit beside the catalog.
    const auto catalog = std::stoll(sql("SELECT sum(bytes) FROM schedule_part"));
    EXPECT_EQ(remove({.most_bytes = catalog + kept[0].bytes + kept[1].bytes, .oldest = {}, .oldest_idle = now - 1h}),
              2);
    EXPECT_EQ(newest().size(), 2U);
    EXPECT_EQ(remove({.most_bytes = kAll, .oldest = {}, .oldest_idle = now + 1h}), 2) << "nothing started in them";
    EXPECT_TRUE(newest().empty());
    EXPECT_NE(sql("SELECT count(*) FROM schedule_part"), "0") << "somebody may be about to refer to them";
    sql("UPDATE schedule_part SET last_used_at = now() - interval '2 hours'");
    remove({.most_bytes = kAll, .oldest = now, .oldest_idle = now});
    EXPECT_EQ(sql("SELECT count(*) FROM schedule_part"), "0");
}

TEST_F(Cycles, WhatIsGoneIsSaid)
{
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId job = submit_dgemm(1000);
    decide();
    const std::string cycle = newest().at(0).id;
    sql("DELETE FROM schedule_part");
    EXPECT_EQ(run(cycles_.list_jobs(CycleId::parse(cycle).value(), "tok_1", "", 10)).value().items.size(), 1U)
        << "its jobs need no catalog";
    EXPECT_EQ(run(cycles_.list_jobs(CycleId::parse(cycle).value(), "tok_1", "x", 10)).error().code, Errc::kInvalid);
    const Result<Json> without_catalog = run(cycles_.replay({CycleId::parse(cycle).value(), "", "tok_1"}));
    ASSERT_FALSE(without_catalog.has_value());
    EXPECT_EQ(without_catalog.error().code, Errc::kNotFound);
    sql("DELETE FROM schedule_cycle");
    EXPECT_EQ(run(cycles_.replay({CycleId::parse(cycle).value(), "", "tok_1"})).error().code, Errc::kNotFound);
    EXPECT_EQ(run(cycles_.get(CycleId::parse(cycle).value())).error().code, Errc::kNotFound);
    EXPECT_EQ(run(cycles_.list_jobs(CycleId::parse(cycle).value(), "tok_1", "", 10)).error().code, Errc::kNotFound);
    EXPECT_EQ(explain(job)["cycle_id"], cycle) << "its explanation stays";
}

TEST_F(Cycles, WithoutARecorderNoneIsKept)
{
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId job = submit_dgemm(1000);
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(explain(job)["cycle_id"], nullptr);
    EXPECT_TRUE(newest().empty());
}

} // namespace
} // namespace fathom::server
