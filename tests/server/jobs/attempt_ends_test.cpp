// What an attempt's end tells beside its outcome.
#include "server/jobs/attempt_output_store.hpp"
#include "server/jobs/attempt_words.hpp"
#include "tests/server/jobs/attempts_fixture.hpp"

namespace fathom::server {
namespace {

TEST_F(Attempts, TellOnWhichNodesTheyRanAndWhatTheseTook)
{
    const JobId job = job_in("running");
    EXPECT_FALSE(job_json(job)["attempt"].contains("nodes"));
    EXPECT_FALSE(job_json(job)["attempt"].contains("energy_j"));
    AttemptEnd end = exited(0);
    end.nodes = "n[1-4]";
    end.energy_j = 7200;

    ASSERT_TRUE(report_end(job, end));

    EXPECT_EQ(job_json(job)["attempt"]["nodes"], "n[1-4]");
    EXPECT_EQ(job_json(job)["attempt"]["energy_j"], 7200);
}

TEST_F(Attempts, TellWhatTheyHaveStored)
{
    const JobId good = job_in("running");
    EXPECT_EQ(job_json(good)["attempt"]["outputs"], Json::array());
    AttemptEnd end = exited(0);
    end.outputs = {{"out/x", 7, std::string(64, 'a')}};
    ASSERT_TRUE(report_end(good, end));
    EXPECT_EQ(job_json(good)["attempt"]["outputs"], to_json(end.outputs));
    EXPECT_FALSE(job_json(good)["attempt"].contains("cause"));

    const JobId bad = job_in("running");
    end.exit_code.reset();
    end.cause = AttemptCause::kOutputsFailed;
    end.detail = "outputs could not be stored: y to https://h/y: the server answered 403";
    ASSERT_TRUE(report_end(bad, end));
    EXPECT_EQ(state_of(bad), "failed");
    EXPECT_EQ(job_json(bad)["attempt"]["cause"], "outputs_failed");
    EXPECT_EQ(job_json(bad)["end_reason"], end.detail);
    EXPECT_EQ(job_json(bad)["exit_code"], nullptr);
    EXPECT_EQ(sql("SELECT p.outcome FROM prediction p JOIN attempt a ON a.id = p.attempt_id WHERE a.job_id = '" +
                  bad.value + "'"),
              "failed");
}

TEST_F(Attempts, TellStagingFromTheTimeOfTheProgram)
{
    const auto run_s_of = [&](const JobId& job) {
        return sql("SELECT p.actual_run_s FROM prediction p JOIN attempt a ON a.id = p.attempt_id WHERE a.job_id = '" +
                   job.value + "'");
    };
    AttemptEnd end = exited(0); // after 1.5 s
    end.staging = {.in_s = 0.5, .in_bytes = 48213, .in_cached_bytes = 213, .out_s = 0.25, .out_bytes = 7};

    const JobId staged = job_in("running");
    EXPECT_EQ(job_json(staged)["attempt"]["staging"], nullptr);
    ASSERT_TRUE(report_end(staged, end));
    EXPECT_EQ(job_json(staged)["attempt"]["staging"], to_json(*end.staging));
    EXPECT_EQ(job_json(staged)["attempt"]["run_s"], 1.5) << "the units were held as long";
    EXPECT_EQ(job_json(staged)["run_s"], 0.75);
    EXPECT_EQ(run_s_of(staged), "0.75");

    const JobId moving = job_in("running");
    sql("UPDATE job SET spec = jsonb_set(spec, '{data,out_bytes}', '1000') WHERE id = '" + moving.value + "'");
    ASSERT_TRUE(report_end(moving, end));
    EXPECT_EQ(run_s_of(moving), "1.5") << "as its prediction has it";

    end.staging->in_s = 1e6;
    const JobId forged = job_in("running");
    ASSERT_TRUE(report_end(forged, end));
    EXPECT_EQ(run_s_of(forged), "0");
}

TEST_F(Attempts, AnEndThatCannotBeStoredStillEndsTheJob)
{
    const JobId job = job_in("running");
    AttemptEnd end = exited(0);
    end.detail = std::string("no text for PostgreSQL: \0", 25);

    EXPECT_TRUE(report_end(job, end));

    EXPECT_EQ(state_of(job), "succeeded");
}

} // namespace
} // namespace fathom::server
