#include "server/retention/retention_task.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using std::chrono::days;

class OldRows : public JobsFixture {
  protected:
    OldRows() { alpha_ = add_center("alpha", 8); }

    RetentionTask::Removed turn(RetentionRule rule)
    {
        RetentionTask task(database_, clock_, metrics_, rule,
                           {.pause = std::chrono::milliseconds(0), .jobs = 3, .pieces = 2, .rows = 2});
        return run(task.turn()).value();
    }

    std::string alpha_; ///< a unit type
};

TEST_F(OldRows, OfTheCalendarGoOnceTheyAreOver)
{
    const auto reserve = [this](const std::string& id, int ended_days_ago, const std::string& cancelled_at,
                                bool is_metered) {
        const std::string end = "now() - interval '" + std::to_string(ended_days_ago) + " days'";
        const std::string begin = end + " - interval '1 hour'";
        sql("INSERT INTO advance_reservation (id, project, center_id, unit_type_id, unit_count, starts_at, ends_at, "
            "created_by, cancelled_at, metered) VALUES ('rsv_" +
            id + "', 'p', '" + center_id("alpha") + "', '" + alpha_ + "', 1, " + begin + ", " + end + ", 'tok', " +
            cancelled_at + ", " + (is_metered ? "true" : "false") + ")");
        sql("INSERT INTO maintenance_window (id, center_id, starts_at, ends_at, created_by, cancelled_at) VALUES "
            "('mtw_" +
            id + "', '" + center_id("alpha") + "', " + begin + ", " + end + ", 'tok', " + cancelled_at + ")");
    };
    for (const char* id : {"1", "2", "3"}) // more than a transaction takes
        reserve(id, 100, "NULL", true);
    reserve("cancelled", -100, "now() - interval '100 days'", true);
    reserve("uncharged", 100, "NULL", false);
    reserve("fresh", 1, "NULL", true);
    reserve("planned", -100, "NULL", false);

    EXPECT_EQ(turn({.jobs = days(0)}).calendar, 0) << "never";
    EXPECT_EQ(turn({.jobs = days(90)}).calendar, 4 + 5);

    EXPECT_EQ(sql("SELECT string_agg(id, ' ' ORDER BY id) FROM advance_reservation"),
              "rsv_fresh rsv_planned rsv_uncharged");
    EXPECT_EQ(sql("SELECT string_agg(id, ' ' ORDER BY id) FROM maintenance_window"), "mtw_fresh mtw_planned");
}

TEST_F(OldRows, OfTypesOfJobsGoWhenNoJobIsKept)
{
    const JobId job = job_in("queued");
    sql("UPDATE job SET job_type = 'used' WHERE id = '" + job.value + "'");
    for (const char* name : {"a", "b", "c", "used", "fresh"})
        sql("INSERT INTO job_type (name, origin, mix, operators, profiled, learned_from, learned_at) VALUES ('" +
            std::string(name) + "', 'user', '[]', '[]', false, '', now() - interval '100 days')");
    sql("UPDATE job_type SET learned_at = now() WHERE name = 'fresh'");
    for (const char* type : {"a", "b", "c", "used", "fresh"})
        sql("INSERT INTO probe_task (id, name, job_type, origin, document, document_sha256, created_by, "
            "state_changed_at) VALUES ('ptk_" +
            std::string(type) + "', 't', '" + type + "', 'job', '{}', 'x', 'y', now() - interval '100 days')");
    sql("UPDATE job_type SET probe_task_id = 'ptk_' || name");
    sql("UPDATE probe_task SET origin = 'expert' WHERE id = 'ptk_b'");

    EXPECT_EQ(turn({.jobs = days(90)}).job_types, 3 + 2);

    EXPECT_EQ(sql("SELECT string_agg(name, ' ' ORDER BY name) FROM job_type"), "fresh used");
    EXPECT_EQ(sql("SELECT string_agg(id, ' ' ORDER BY id) FROM probe_task"), "ptk_b ptk_fresh ptk_used");
}

TEST_F(OldRows, OfCopiesOfOutputsGoWhenNobodyAskedForThemOfLate)
{
    const JobId job = job_in("queued");
    for (const char* path : {"a", "b", "c"}) // more than a transaction takes
        sql("INSERT INTO kept_output (job_id, path, center_id, told_at) VALUES ('" + job.value + "', '" + path +
            "', 'ctr_a', now() - interval '9 days')");
    sql("INSERT INTO kept_output (job_id, path, center_id, told_at) VALUES ('" + job.value +
        "', 'd', 'ctr_a', now() - interval '7 days')");

    EXPECT_EQ(turn({}).kept_outputs, 3) << "though their job is kept";

    EXPECT_EQ(sql("SELECT string_agg(path, '') FROM kept_output"), "d");
}

} // namespace
} // namespace fathom::server
