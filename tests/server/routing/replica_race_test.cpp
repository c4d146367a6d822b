#include "server/calendar/reservation_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

// Each new attempt, and each new reservation, is checked as its transaction commits. An attempt: at that moment, and at
// the start of every reservation that it is expected to meet, the units in use and those that are kept for other
// projects, less what these use, are no more than there are. Units that shrink below what is in use are nobody's fault;
// giving away more of them is. The functions are STABLE so that both look at one moment: an attempt that ends between
// their looks would be in use for one, and no longer use what is kept for its project for the other. What begins
// between the decision and a commit that was held up counts for those that are expected to run then, alone. A project
// with a quota holds no more than that, and with a member of a gang all of them have started. watch_now() asks the same
// of what everybody sees at any moment: a transaction that did not wait for another one does not see it as it commits.
constexpr const char* kWatch = R"sql(
    CREATE TABLE violation (at timestamptz, what text);
    CREATE FUNCTION held_by(of_project text) RETURNS bigint LANGUAGE sql STABLE AS $f$
        SELECT coalesce(sum(a.unit_count), 0)::bigint FROM attempt a JOIN job j ON j.id = a.job_id
        WHERE a.state <> 'ended' AND j.project = of_project $f$;
    CREATE FUNCTION in_use(wanted_type text, of_project text, at timestamptz, moment timestamptz) RETURNS bigint
    LANGUAGE sql STABLE AS $f$
        SELECT coalesce(sum(a.unit_count), 0)::bigint FROM attempt a JOIN job j ON j.id = a.job_id
        WHERE a.unit_type_id = wanted_type AND a.state <> 'ended' AND (of_project = '*' OR j.project = of_project)
          AND (at = moment OR a.expected_end_at > at) $f$;
    CREATE FUNCTION kept_for_others(wanted_type text, than text, at timestamptz, moment timestamptz,
                                    decided timestamptz) RETURNS bigint
    LANGUAGE sql STABLE AS $f$
        SELECT coalesce(sum(greatest(k.units - in_use(wanted_type, k.project, at, moment), 0)), 0)::bigint
        FROM (SELECT project, sum(unit_count)::bigint AS units FROM advance_reservation
              WHERE unit_type_id = wanted_type AND cancelled_at IS NULL AND ends_at > at
                AND starts_at <= CASE WHEN at = moment THEN decided ELSE at END
                AND project <> than
              GROUP BY project) k $f$;
    CREATE FUNCTION watch_attempt() RETURNS trigger LANGUAGE plpgsql AS $f$
    DECLARE
        moment timestamptz := clock_timestamp();
        mine text;
        gang_of_it text;
        units bigint;
        at timestamptz;
    BEGIN
        SELECT project, gang INTO mine, gang_of_it FROM job WHERE id = NEW.job_id;
        IF (SELECT max_units > 0 AND max_units < held_by(mine) FROM project WHERE name = mine) THEN
            INSERT INTO violation VALUES (moment, NEW.id || ' takes the units of ' || mine || ' to ' || held_by(mine));
        END IF;
        IF EXISTS (SELECT 1 FROM job WHERE gang <> '' AND project = mine AND gang = gang_of_it AND state = 'queued')
        THEN
            INSERT INTO violation VALUES (moment, NEW.id || ' starts a part of gang ' || gang_of_it);
        END IF;
        SELECT unit_count INTO units FROM unit_type WHERE id = NEW.unit_type_id;
        FOR at IN SELECT moment UNION
                  SELECT starts_at FROM advance_reservation
                  WHERE unit_type_id = NEW.unit_type_id AND cancelled_at IS NULL AND starts_at > NEW.created_at
                    AND starts_at < NEW.expected_end_at AND project <> mine
        LOOP
            IF in_use(NEW.unit_type_id, '*', at, moment) +
               kept_for_others(NEW.unit_type_id, mine, at, moment, NEW.created_at) > units THEN
                INSERT INTO violation VALUES (at, NEW.id || ' of ' || mine || ', checked at ' || moment || ', ends ' ||
                    NEW.expected_end_at || ', of ' || units || ' units; attempts: ' ||
                    (SELECT coalesce(string_agg(concat_ws(' ', a.id, j.project, a.unit_count, a.created_at,
                                                          a.expected_end_at), ', '), '')
                     FROM attempt a JOIN job j ON j.id = a.job_id
                     WHERE a.unit_type_id = NEW.unit_type_id AND a.state <> 'ended') || '; reservations: ' ||
                    (SELECT coalesce(string_agg(concat_ws(' ', r.project, r.unit_count, r.created_at, r.starts_at,
                                                          r.ends_at), ', '), '')
                     FROM advance_reservation r
                     WHERE r.unit_type_id = NEW.unit_type_id AND r.cancelled_at IS NULL AND r.ends_at > moment));
            END IF;
        END LOOP;
        RETURN NULL;
    END $f$;
    CREATE CONSTRAINT TRIGGER watch_attempt AFTER INSERT ON attempt DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION watch_attempt();
    CREATE FUNCTION watch_now() RETURNS void LANGUAGE sql AS $f$
        INSERT INTO violation
        SELECT clock_timestamp(), 'the units of ' || p.name || ' are ' || sum(a.unit_count)
        FROM attempt a JOIN job j ON j.id = a.job_id JOIN project p ON p.name = j.project
        WHERE a.state <> 'ended' AND p.max_units > 0
        GROUP BY p.name, p.max_units HAVING sum(a.unit_count) > p.max_units;
        INSERT INTO violation
        SELECT clock_timestamp(), 'a part of gang ' || gang || ' has started'
        FROM job WHERE gang <> '' GROUP BY project, gang
        HAVING count(*) FILTER (WHERE state = 'queued') NOT IN (0, count(*)) $f$;
    CREATE FUNCTION watch_reservation() RETURNS trigger LANGUAGE plpgsql AS $f$
    DECLARE
        units bigint;
        at timestamptz;
    BEGIN
        SELECT unit_count INTO units FROM unit_type WHERE id = NEW.unit_type_id;
        FOR at IN SELECT starts_at FROM advance_reservation
                  WHERE unit_type_id = NEW.unit_type_id AND cancelled_at IS NULL AND starts_at >= NEW.starts_at
                    AND starts_at < NEW.ends_at
        LOOP
            IF (SELECT sum(unit_count) FROM advance_reservation WHERE unit_type_id = NEW.unit_type_id
                AND cancelled_at IS NULL AND starts_at <= at AND ends_at > at) > units THEN
                INSERT INTO violation VALUES (at, NEW.id);
            END IF;
        END LOOP;
        RETURN NULL;
    END $f$;
    CREATE CONSTRAINT TRIGGER watch_reservation AFTER INSERT ON advance_reservation DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION watch_reservation())sql";

/// A replica with connections and a snapshot of its own, that routes until it is told to stop.
class Replica {
  public:
    Replica(const std::string& url, test::TestIo& io, Metrics& metrics, const Clock& clock,
            const UnitLoadService& loads, ProbePlanner& planner, WaitingJobTerminator& terminator)
        : io_(&io), database_({.url = url, .connections = 3}, metrics), catalog_(database_, io.executor(), metrics),
          routing_(io.executor(), {database_, metrics, clock, catalog_, loads, planner, terminator},
                   {.replica = ReplicaId::make()})
    {
        EXPECT_TRUE(catalog_.load());
        thread_ = std::thread([this] { loop(); });
    }
    ~Replica()
    {
        stop();
        database_.stop();
    }
    Replica(const Replica&) = delete;
    Replica& operator=(const Replica&) = delete;

    void stop()
    {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
    }
    std::int64_t placed() const { return placed_; }

  private:
    void loop()
    {
        for (int cycle = 0; !stopping_; ++cycle) {
            // Now and then its snapshot is of the moment, mostly it is old.
            if (cycle % 4 == 3) EXPECT_TRUE(catalog_.load());
            auto routed = io_->spawn(routing_.run_cycle(RoutingService::Wake::kTick));
            const Result<std::int64_t> placed = test::TestIo::get(std::move(routed));
            EXPECT_TRUE(placed) << describe(placed.error());
            if (placed) placed_ += *placed;
        }
    }

    test::TestIo* io_;
    Database database_;
    CatalogCache catalog_;
    RoutingService routing_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::int64_t> placed_{0};
    std::thread thread_;
};

class ReplicaRace : public JobsFixture, public ::testing::WithParamInterface<unsigned> {
  protected:
    /// Two of the three projects have quotas, which fit any of their jobs and gangs, but not two large ones at once.
    void set_quotas()
    {
        for (const char* project : {"p", "q"})
            ASSERT_EQ(call(net::Method::kPut, std::string("/projects/") + project, R"({"max_units": 5})").status, 200);
        reload_catalog();
    }
    /// Single jobs, and now and then a gang: three of one unit each, or two of two.
    void submit_jobs(int count)
    {
        constexpr int kJobsPerGang = 32;
        for (int i = 0; i < count;) {
            const std::string project = pick({"p", "q", "r"});
            const int size = i / kJobsPerGang % 2 == 0 ? 3 : 2;
            if (i % kJobsPerGang != 0 || i + size > count) {
                submit_job(project, number(1, 3), Json());
                ++i;
                continue;
            }
            const Json gang = {{"id", "g" + std::to_string(i)}, {"size", size}};
            for (int member = 0; member < size; ++member, ++i)
                submit_job(project, 4 - size, gang);
        }
    }
    void submit_job(const std::string& project, std::int64_t units, const Json& gang)
    {
        Json more = {{"project", project},
                     {"units", {{"count", units}}},
                     {"operators", {{{"id", "dgemm"}, {"count", 50 * number(1, 8)}}}}};
        if (!gang.is_null()) more["gang"] = gang;
        submit(spec(std::move(more)));
    }
    std::string pick(const std::vector<std::string>& texts)
    {
        return texts[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(texts.size()) - 1))];
    }
    std::int64_t number(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }
    /// A center that reports fewer units, then more again; and one that comes and goes.
    void change_centers(int round)
    {
        if (round % 8 == 7)
            sql("UPDATE center SET state = CASE state WHEN 'online' THEN 'lost' ELSE 'online' END WHERE name = 'beta'");
        sql("UPDATE unit_type SET unit_count = " + std::to_string(number(2, 6)) +
            " WHERE center_id = (SELECT id FROM center WHERE name = '" + pick({"alpha", "beta"}) + "')");
    }
    /// They count as added up: else each look at a quota would read all that ever ended.
    void end_some_attempts(double share)
    {
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited', counted = true "
            "WHERE state <> 'ended' AND random() < " +
            std::to_string(share) +
            " RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }
    /// Reserves or cancels something; conflicts are part of the game.
    void change_reservations(ReservationService& reservations, std::mt19937& random)
    {
        const auto draw = [&](std::int64_t least, std::int64_t most) {
            return std::uniform_int_distribution<std::int64_t>(least, most)(random);
        };
        if (draw(0, 2) == 0) {
            sql("UPDATE advance_reservation SET cancelled_at = now() WHERE id = (SELECT id FROM advance_reservation "
                "WHERE cancelled_at IS NULL ORDER BY random() LIMIT 1)");
            return;
        }
        const Timestamp start = clock_.now() + std::chrono::milliseconds(draw(0, 3000));
        ReservationService::Wanted wanted{.project = draw(0, 1) == 0 ? "p" : "q",
                                          .center = draw(0, 1) == 0 ? "alpha" : "beta",
                                          .unit_type = "core",
                                          .unit_count = draw(1, 3),
                                          .period = {start, start + std::chrono::milliseconds(draw(200, 3000))}};
        auto made =
            io_.spawn(reservations.create({"tok_x", "req"}, std::move(wanted), ReservationService::Right::kAny));
        reserved_ += test::TestIo::get(std::move(made)) ? 1 : 0;
    }
    /// Ends so many of what has started by now, once it has been looked at, and gives the routers some time.
    void end_round(double share)
    {
        sql("SELECT watch_now()");
        end_some_attempts(share);
        std::this_thread::sleep_for(20ms);
    }
    /// At the end: the gangs whose members did not start in one transaction, each member once.
    std::string broken_gangs()
    {
        return sql(
            "SELECT string_agg(gang, ', ') FROM (SELECT j.gang FROM job j LEFT JOIN attempt a ON a.job_id = j.id "
            "WHERE j.gang <> '' GROUP BY j.project, j.gang HAVING count(a.id) <> count(DISTINCT j.id) OR "
            "count(DISTINCT a.created_at) <> 1 OR "
            "count(DISTINCT j.id) <> max((j.spec -> 'gang' ->> 'size')::bigint)) AS broken");
    }
    bool is_waiting() { return sql("SELECT count(*) FROM job WHERE state = 'queued'") != "0"; }

    std::mt19937 random_{GetParam()};
    std::atomic<int> reserved_{0};
};

/// More by tests/replica_race.
int from_environment(const char* name, int otherwise)
{
    const char* const text = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? otherwise : std::stoi(text);
}

TEST_P(ReplicaRace, NeverOversellsKeepsQuotasAndGangsAndPlacesEachJobOnceAndAllInTheEnd)
{
    const int jobs = from_environment("FATHOM_RACE_JOBS", 150);
    const int replica_count = from_environment("FATHOM_RACE_REPLICAS", 3);
    add_operators();
    add_measurement(add_center("alpha", 6), 0.01);
    add_measurement(add_center("beta", 4), 0.01);
    sql(kWatch);
    set_quotas();
    submit_jobs(jobs);
    ReservationService reservations(database_);
    std::atomic<bool> is_over{false};
    std::vector<std::unique_ptr<Replica>> replicas;
    for (int i = 0; i < replica_count; ++i)
        replicas.push_back(std::make_unique<Replica>(url_, io_, metrics_, clock_, unit_loads_, probing_, finalizer_));
    std::thread people([&] {
        std::mt19937 random(GetParam() + 1000);
        while (!is_over) {
            change_reservations(reservations, random);
            std::this_thread::sleep_for(5ms);
        }
    });

    for (int round = 0; round < 60 + jobs / 10 && is_waiting(); ++round) {
        change_centers(round);
        end_round(0.5);
    }
    EXPECT_TRUE(test::eventually([&] { return reserved_ > 0; })) << "those who reserve may come late";
    is_over = true;
    people.join();
    sql("UPDATE advance_reservation SET cancelled_at = now() WHERE cancelled_at IS NULL");
    sql("UPDATE unit_type SET unit_count = 6; UPDATE center SET state = 'online'");
    const auto limit = std::chrono::steady_clock::now() + 120s;
    for (int round = 0; (round < 300 + jobs || std::chrono::steady_clock::now() < limit) && is_waiting(); ++round)
        end_round(0.8);
    std::int64_t placed = 0;
    for (const auto& replica : replicas) {
        replica->stop();
        placed += replica->placed();
    }

    sql("SELECT watch_now()");
    EXPECT_EQ(sql("SELECT string_agg(what || ' at ' || at, ', ') FROM violation"), "");
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM attempt"), std::to_string(jobs)) << "each job is placed once";
    EXPECT_EQ(sql("SELECT count(DISTINCT job_id) FROM attempt"), std::to_string(jobs));
    EXPECT_EQ(placed, jobs);
    EXPECT_EQ(broken_gangs(), "");
    EXPECT_NE(sql("SELECT count(DISTINCT gang) FROM job WHERE gang <> ''"), "0");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplicaRace, ::testing::Values(1U, 2U, 3U, 4U));

} // namespace
} // namespace fathom::server
