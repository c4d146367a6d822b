#include "core/base/ulid_time.hpp"
#include "server/retention/retention_task.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr RetentionRule kForEver{.jobs = days(0)};

class StoppedClock final : public Clock {
  public:
    explicit StoppedClock(Timestamp moment) : moment_(moment) {}
    Timestamp now() const override { return moment_; }

  private:
    Timestamp moment_;
};

class EventMonths : public JobsFixture {
  protected:
    EventMonths() { add_center("alpha"); }

    RetentionTask::EventMonths update_at(Timestamp moment, const RetentionRule& rule)
    {
        const StoppedClock clock(moment);
        RetentionTask task(database_, clock, metrics_, rule, {.pause = 0ms});
        return run(task.update_event_months()).value();
    }
    RetentionTask::EventMonths update_at(const std::string& moment)
    {
        return update_at(parse_rfc3339(moment).value(), kForEver);
    }
    std::int64_t remove_jobs_at(Timestamp moment, const RetentionRule& rule)
    {
        const StoppedClock clock(moment);
        RetentionTask task(database_, clock, metrics_, rule, {.pause = 0ms});
        return run(task.turn()).value().jobs;
    }
    void end(const JobId& job)
    {
        sql("UPDATE job SET state = 'cancelled', state_changed_at = now() - interval '1 day' WHERE id = '" + job.value +
            "'");
    }
    std::string first_id(const std::string& moment) const { return sql("SELECT first_job_id('" + moment + "')"); }
    void add_event(const std::string& job) const
    {
        sql("INSERT INTO job_event (job_id, state, cause) VALUES ('" + job + "', 'queued', 'x')");
    }
    /// Partitions that have events of the job.
    std::string partitions_of(const std::string& job) const
    {
        return sql("SELECT string_agg(DISTINCT tableoid::regclass::text, ',') FROM job_event WHERE job_id = '" + job +
                   "'");
    }
    std::string partitions_like(const std::string& pattern) const
    {
        return sql("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_inherits JOIN pg_class ON oid = inhrelid "
                   "WHERE inhparent = 'job_event'::regclass AND relname LIKE '" +
                   pattern + "'");
    }

    const Timestamp now_ = clock_.now();
};

TEST_F(EventMonths, AreThereForJobsThatComeNow)
{
    const JobId job = submit();

    const std::string made_at = format_rfc3339(ulid_time(job.value)); // 2026-11-…
    EXPECT_EQ(partitions_of(job.value), "job_event_" + made_at.substr(0, 4) + "_" + made_at.substr(5, 2));
}

TEST_F(EventMonths, AreMadeForThisMonthAndTheNext)
{
    EXPECT_EQ(update_at("2031-12-31T23:59:59Z").made, 2);
    EXPECT_EQ(update_at("2031-12-31T23:59:59Z").made, 0);
    EXPECT_EQ(update_at("2032-01-01T00:00:00Z").made, 1);

    EXPECT_EQ(partitions_like("job_event_203%"), "job_event_2031_12,job_event_2032_01,job_event_2032_02");
}

TEST_F(EventMonths, BeginAndEndWithTheMonth)
{
    update_at("2031-12-15T00:00:00Z");
    const std::string before = first_id("2031-11-30T23:59:59.999Z");
    const std::string first = first_id("2031-12-01T00:00:00Z");
    const std::string last = first_id("2031-12-31T23:59:59.999Z");
    for (const std::string& job : {before, first, last})
        add_event(job);

    EXPECT_EQ(partitions_of(before), "job_event_other");
    EXPECT_EQ(partitions_of(first), "job_event_2031_12");
    EXPECT_EQ(partitions_of(last), "job_event_2031_12");
    EXPECT_EQ(format_rfc3339(ulid_time(last)), "2031-12-31T23:59:59.999000Z");
}

TEST_F(EventMonths, GoAsAWholeWhenTheirJobsAreGone)
{
    const RetentionRule rule{.jobs = days(90)};
    const JobId job = submit();
    end(job);
    const std::string month = partitions_of(job.value);

    // The month has not ended yet.
    EXPECT_EQ(remove_jobs_at(now_ + days(90) - 1h, rule), 1);
    EXPECT_EQ(update_at(now_ + days(90) - 1h, rule).dropped, 0);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/events").status, 404);
    EXPECT_EQ(partitions_of(job.value), month);
    EXPECT_GE(update_at(now_ + days(90 + 32), rule).dropped, 1);

    EXPECT_EQ(partitions_like(month), "");
    EXPECT_EQ(sql("SELECT to_regclass('" + month + "')"), "");
    EXPECT_EQ(sql("SELECT count(*) FROM job_event"), "0");
}

TEST_F(EventMonths, AreKeptWhereJobsAreKeptForEver)
{
    const std::string month = partitions_of(submit().value);

    EXPECT_EQ(update_at(now_ + days(4000), kForEver).dropped, 0);

    EXPECT_EQ(partitions_like(month), month);
}

TEST_F(EventMonths, KeepEventsOfJobsThatOutliveThem)
{
    const RetentionRule rule{.jobs = days(90)};
    const Timestamp later = now_ + days(1000);
    const JobId waits = submit();
    const JobId ended = submit();
    end(ended);
    const std::string month = partitions_of(waits.value);

    EXPECT_EQ(remove_jobs_at(later, rule), 1);
    EXPECT_GE(update_at(later, rule).dropped, 1);
    EXPECT_EQ(update_at(later, rule).dropped, 0) << "once";

    EXPECT_EQ(partitions_of(ended.value), "");
    EXPECT_EQ(events_of(waits), std::vector<std::string>{"queued"});
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + waits.value + "/events").status, 200);
    add_event(waits.value);
    EXPECT_EQ(partitions_of(waits.value), month);
    EXPECT_EQ(sql("SELECT count(DISTINCT id) FROM job_event"), "2");

    end(waits);
    EXPECT_EQ(remove_jobs_at(later, rule), 1);
    EXPECT_EQ(sql("SELECT count(*) FROM job_event"), "0") << "its month is past: they go with the job";
    EXPECT_EQ(update_at(later, rule).dropped, 1);
    EXPECT_EQ(partitions_like(month), "");
}

TEST_F(EventMonths, LeaveAloneWhatIsInNoneOfThem)
{
    const std::string job = first_id("2016-07-15T12:00:00Z");
    add_event(job);

    update_at(now_ + days(4000), {.jobs = days(90)});
    EXPECT_EQ(partitions_of(job), "job_event_other");

    EXPECT_EQ(update_at("2016-07-30T00:00:00Z").made, 2);
    EXPECT_EQ(partitions_of(job), "job_event_2016_07") << "once there is one for it";
}

TEST_F(EventMonths, DoNotWaitForThoseWhoReadForLong)
{
    pqxx::connection connection(url_);
    pqxx::work reader(connection);
    reader.exec("SELECT FROM job_event");

    const RetentionTask::EventMonths meanwhile = update_at("2040-01-15T00:00:00Z");
    EXPECT_EQ(meanwhile.made, 0);
    EXPECT_EQ(meanwhile.waiting, 2);
    submit();
    reader.abort();

    EXPECT_EQ(update_at("2040-01-15T00:00:00Z").made, 2);
}

} // namespace
} // namespace fathom::server
