#include "tests/server/jobs/jobs_fixture.hpp"

#include <array>

namespace fathom::server {
namespace {

/// A center of one unit, and short jobs of a type that has run there three times.
class QueueAtCenter : public JobsFixture {
  protected:
    QueueAtCenter()
    {
        add_operators();
        add_measurement(add_center("alpha", 1), 0.0001);
        for (int i = 0; i < 3; ++i) {
            const JobId job = submit(short_job());
            route();
            end(job);
        }
        EXPECT_TRUE(test::eventually([&] {
            reload_catalog();
            const RouteKnowledge& known = catalog_.get()->knowledge;
            return known.runs && known.runs->calibration().job_count == 3;
        }));
    }
    static Json short_job() { return spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}}); }
    void end(const JobId& job)
    {
        AttemptEnd ended;
        ended.outcome = AttemptOutcome::kExited;
        ended.exit_code = 0;
        ended.started_at = ended.ended_at = clock_.now();
        ended.run_s = 0.11;
        ASSERT_TRUE(report_end(job, ended));
    }
    std::array<JobId, 3> place_three()
    {
        const std::array jobs{submit(short_job()), submit(short_job()), submit(short_job())};
        route();
        return jobs;
    }
    bool is_queued(const JobId& job) const
    {
        return sql("SELECT queued_until IS NOT NULL FROM attempt WHERE id = '" + attempt_of(job).value + "'") == "t";
    }
};

TEST_F(QueueAtCenter, ShortJobsGoThereBeforeTheirUnitIsFree)
{
    const auto [first, second, third] = place_three();

    EXPECT_EQ(state_of(third), "placed");
    EXPECT_FALSE(is_queued(first));
    EXPECT_TRUE(is_queued(second));
    EXPECT_TRUE(is_queued(third));
    EXPECT_EQ(orders_for(center_of(first)).size(), 3U);
    EXPECT_THAT(sql("SELECT cause FROM job_event WHERE state = 'placed' AND job_id = '" + third.value + "'"),
                testing::HasSubstr("waits for its unit at the center"));
    EXPECT_EQ(sql("SELECT sum(unit_count) FROM attempt WHERE state <> 'ended' AND queued_until IS NULL"), "1");

    ASSERT_TRUE(report_start(first));
    end(first);

    EXPECT_FALSE(is_queued(second)) << "it has what the first one gave back";
    EXPECT_TRUE(is_queued(third));
    end(second);
    EXPECT_FALSE(is_queued(third));
    end(third);
    EXPECT_EQ(state_of(third), "succeeded");
}

TEST_F(QueueAtCenter, WhoeverStartsThereHoldsItsUnit)
{
    const auto [first, second, third] = place_three();
    ASSERT_TRUE(is_queued(second));

    ASSERT_TRUE(report_start(second));

    EXPECT_FALSE(is_queued(second)) << "the first has ended, though nobody has told so yet";
    end(first);
    EXPECT_TRUE(is_queued(third)) << "the second has what the first one gave back";
    end(second);
    EXPECT_FALSE(is_queued(third));
}

TEST_F(QueueAtCenter, OneThatIsCancelledGivesNothingBack)
{
    const auto [first, second, third] = place_three();
    ASSERT_TRUE(is_queued(third));
    AttemptEnd cancelled;
    cancelled.outcome = AttemptOutcome::kCancelled;
    cancelled.ended_at = clock_.now();

    ASSERT_TRUE(report_end(second, cancelled));

    EXPECT_TRUE(is_queued(third));
    end(first);
    EXPECT_FALSE(is_queued(third));
}

TEST_F(QueueAtCenter, NobodyWaitsThereBehindALongJob)
{
    const JobId first = submit(short_job());
    route();
    sql("UPDATE attempt SET created_at = now() - interval '1 hour', expected_end_at = now() + interval '0.5 seconds' "
        "WHERE id = '" +
        attempt_of(first).value + "'");
    const JobId second = submit(short_job());

    route();

    EXPECT_EQ(state_of(second), "queued");
}

TEST_F(QueueAtCenter, WhoWaitsThereTooLongIsCalledBack)
{
    const JobId first = submit(short_job());
    const JobId second = submit(short_job());
    route();
    const CenterId center = center_of(second);
    const AttemptId attempt = attempt_of(second);
    ASSERT_EQ(orders_for(center).size(), 2U);
    sql("UPDATE attempt SET queued_until = now() - interval '11 seconds' WHERE id = '" + attempt.value + "'");

    const std::vector<link::Body> orders = orders_for(center);
    const auto* const recall = orders.empty() ? nullptr : std::get_if<link::RecallAttempt>(&orders.back());
    ASSERT_NE(recall, nullptr);
    EXPECT_EQ(recall->attempt_id, attempt);
    AttemptEnd back;
    back.outcome = AttemptOutcome::kCancelled;
    back.ended_at = clock_.now();
    back.detail = recall->reason;
    ASSERT_TRUE(report_end(second, back));

    EXPECT_EQ(state_of(second), "queued");
    EXPECT_EQ(state_of(first), "placed");
}

TEST_F(QueueAtCenter, ALineHasAnEnd)
{
    for (int i = 0; i < 24; ++i)
        submit(short_job());

    route();

    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE queued_until IS NOT NULL"), "16");
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "7");
}

} // namespace
} // namespace fathom::server
