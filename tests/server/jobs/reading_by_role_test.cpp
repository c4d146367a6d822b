#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

/// ann has a job of the project materials; olga is an operator.
class ReadingByRole : public JobsFixture {
  protected:
    ReadingByRole()
    {
        add_center("alpha");
        job_ = submit(spec({{"project", "materials"}}), ann_);
    }

    int read(const std::string& target, const std::string& user)
    {
        return call(net::Method::kGet, target, "", {}, user).status;
    }
    /// What the audit log has of reads: "ACTOR ACTION SUBJECT", oldest first.
    std::string recorded() const
    {
        return sql("SELECT coalesce(string_agg(actor || ' ' || action || ' ' || subject, ', ' ORDER BY id), '') "
                   "FROM audit_log WHERE action LIKE 'job.read%' OR action = 'job.list'");
    }

    const Principal ann_ = add_token("ann", Role::kUser);
    const Principal olga_ = add_token("olga", Role::kOperator);
    JobId job_;
};

TEST_F(ReadingByRole, StandsInTheAuditLogOnceAnHour)
{
    const std::string looked = olga_.token_id.value + " job.read " + job_.value;
    const std::string both = looked + ", " + olga_.token_id.value + " job.read_output " + job_.value;

    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(read("/jobs/" + job_.value, "olga"), 200);
        EXPECT_EQ(read("/jobs/" + job_.value + "/logs/stdout", "olga"), 200);
    }

    EXPECT_EQ(recorded(), both);
    EXPECT_EQ(sql("SELECT detail ->> 'submitted_by' FROM audit_log WHERE action = 'job.read'"), ann_.token_id.value);
    sql("ALTER TABLE audit_log DISABLE TRIGGER USER");
    sql("UPDATE audit_log SET at = at - interval '61 minutes'");
    EXPECT_EQ(read("/jobs/" + job_.value, "olga"), 200);
    EXPECT_EQ(recorded(), both + ", " + looked) << "an hour later it is recorded again";
}

TEST_F(ReadingByRole, OfOwnJobsAndThoseOfOwnProjectsIsNoPrivilege)
{
    const JobId olgas = submit(spec(), olga_);
    ASSERT_EQ(call(net::Method::kPut, "/projects/materials/members/olga", R"({"role": "viewer"})").status, 200);
    identity_.forget_known(); // as the wake-up "identity" does, for which nobody listens here

    EXPECT_EQ(read("/jobs/" + job_.value, "ann"), 200);
    EXPECT_EQ(read("/jobs/" + job_.value + "/logs/stdout", "ann"), 200);
    EXPECT_EQ(read("/jobs", "ann"), 200);
    EXPECT_EQ(read("/jobs/" + olgas.value, "olga"), 200);
    EXPECT_EQ(read("/jobs/" + job_.value, "olga"), 200);
    EXPECT_EQ(read("/jobs", "olga"), 200);

    EXPECT_EQ(recorded(), "");
}

TEST_F(ReadingByRole, OfEventsPlacementsAndOperatorsIsRecorded)
{
    std::string expected;
    for (const std::string part : {"events", "placement", "operators"}) {
        const std::string target = "/jobs/" + job_.value + "/" + part;
        EXPECT_EQ(read(target, "ann"), 200) << part;
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(read(target, "olga"), 200) << part;
        expected += (expected.empty() ? "" : ", ") + olga_.token_id.value + " job.read_" + part + " " + job_.value;
    }

    EXPECT_EQ(recorded(), expected);
}

TEST_F(ReadingByRole, OfStreamsOfEventsIsRecordedWhenTheyBegin)
{
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(read("/events", "ann"), 200);
        EXPECT_EQ(read("/events?job=" + job_.value, "ann"), 200);
        EXPECT_EQ(read("/events?job=" + job_.value, "olga"), 200);
        EXPECT_EQ(read("/events", "olga"), 200);
    }

    const std::string act = olga_.token_id.value + " job.read_events ";
    EXPECT_EQ(recorded(), act + job_.value + ", " + act + "jobs");
}

TEST_F(ReadingByRole, InListsIsRecordedOnceForEachReader)
{
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(read("/jobs", "olga"), 200);
        EXPECT_EQ(read("/jobs", "admin"), 200);
        EXPECT_EQ(read("/jobs", "ann"), 200);
    }

    EXPECT_EQ(recorded(), olga_.token_id.value + " job.list jobs, " + admin_.token_id.value + " job.list jobs");
}

TEST_F(ReadingByRole, OfProbesIsNotRecorded)
{
    const JobId probe = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return JobsProbeJobWriter().insert_probe_job(transaction, probe, parse_job_spec(spec()).value(), "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));

    EXPECT_EQ(read("/jobs/" + probe.value, "olga"), 200);
    EXPECT_EQ(read("/jobs?label=probe", "olga"), 200);

    EXPECT_EQ(recorded(), "");
}

TEST_F(ReadingByRole, IsRefusedWhereItCannotBeRecorded)
{
    sql("ALTER TABLE audit_log RENAME TO audit_log_away");

    EXPECT_EQ(read("/jobs/" + job_.value, "olga"), 500);
    EXPECT_EQ(read("/jobs/" + job_.value + "/logs/stdout", "olga"), 500);
    EXPECT_EQ(read("/jobs", "olga"), 500);
    EXPECT_EQ(read("/events", "olga"), 500);
    for (const std::string part : {"events", "placement", "operators"})
        EXPECT_EQ(read("/jobs/" + job_.value + "/" + part, "olga"), 500) << part;
    EXPECT_EQ(read("/jobs/" + job_.value + "/events", "ann"), 200);
    EXPECT_EQ(read("/jobs/" + job_.value, "ann"), 200);
}

} // namespace
} // namespace fathom::server
