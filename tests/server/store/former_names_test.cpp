// What 0074_names_of_the_glossary.sql has renamed, as replicas of the version before read and write it.
#include "schema/embedded.hpp"
#include "server/store/migrations.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace fathom::server {
namespace {

using test::run_sql;

class FormerNames : public testing::Test {
  protected:
    /// Up to the migration before.
    FormerNames()
    {
        migrate_to("sql/0074");
        run_sql(url_, "INSERT INTO center (id, name) VALUES ('ctr_1', 'alpha')");
        run_sql(url_, "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit,"
                      " memory_bytes_per_unit, operators) VALUES ('ut_1', 'ctr_1', 'core', 'cpu', 4, 1, 0, '{}')");
        run_sql(url_, "INSERT INTO job (id, name, project, spec, submitted_by)"
                      " VALUES ('job_1', 'n', 'p', '{}', 'tok_1'), ('job_2', 'n', 'p', '{}', 'tok_1')");
        run_sql(url_, "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by)"
                      " VALUES ('att_1', 'job_1', 1, 'ctr_1', 'ut_1', 1, 'rep_1'),"
                      " ('att_2', 'job_2', 1, 'ctr_1', 'ut_1', 1, 'rep_1')");
    }

    void migrate() { migrate_to("sql/9999"); }
    std::string sql(const std::string& statement) { return run_sql(url_, statement); }

  private:
    void migrate_to(std::string_view end)
    {
        std::vector<EmbeddedFile> files;
        for (const EmbeddedFile& file : schema::sql::embedded_files()) {
            if (file.name < end) files.push_back(file);
        }
        Metrics metrics;
        Database database({.url = url_, .connections = 1}, metrics);
        const Result<void> done = server::migrate(database, files);
        ASSERT_TRUE(done) << done.error().detail;
    }

    std::string url_ = test::empty_database();
};

TEST_F(FormerNames, OfSimilarityAreTakenAndKeptInDocuments)
{
    sql(R"(INSERT INTO job_type (name, origin, mix, operators, profiled, learned_from, own_loops, known_run) VALUES
           ('own', 'user', '{}', '[]', true, 'job_1', '[{"file": "a", "likeness": 0.5}]',
            '{"run_s": 2, "operators": [{"id": "spmv", "likeness": 0.8}]}'))");
    const std::string documents = "SELECT own_loops::text || known_run FROM job_type";
    const std::string before = sql(documents);
    const std::string add = "INSERT INTO operator_outcome (attempt_id, operator_id, parameters_key, unit_type_id, "
                            "execution_count, actual_s, basis, ";
    sql(add + "likeness) VALUES ('att_1', 'spmv', '', 'ut_1', 1, 1, 'unknown', 0.25)");

    migrate();

    EXPECT_EQ(sql(documents), before) << "replicas of the version before know the former name only";
    sql(add + "likeness) VALUES ('att_1', 'dgemm', '', 'ut_1', 1, 1, 'unknown', 0.5)");
    sql(add + "similarity) VALUES ('att_1', 'fft', '', 'ut_1', 1, 1, 'unknown', 1)");
    EXPECT_EQ(sql("SELECT string_agg(operator_id || ' ' || similarity || ' ' || coalesce(likeness, -1), ', '"
                  " ORDER BY operator_id) FROM operator_outcome"),
              "dgemm 0.5 0.5, fft 1 1, spmv 0.25 -1");
    EXPECT_ANY_THROW(sql(add + "likeness) VALUES ('att_1', 'sort', '', 'ut_1', 1, 1, 'unknown', 2)"));
}

TEST_F(FormerNames, OfRawPredictionsAreReadAndWritten)
{
    const std::string add = "INSERT INTO run_prediction (attempt_id, job_id, job_type, unit_type_id, unit_count, "
                            "promised_s, promised_low_s, promised_high_s, promise_basis) VALUES ";
    sql(add + "('att_1', 'job_1', 't', 'ut_1', 1, 3, 2, 4, 'reference')");
    const std::string add_run = "INSERT INTO gpu_sharing_run (kind, kind_class, beside, beside_class, unit_type_id, "
                                "unit_count, pace, together_share, ";
    sql(add_run + "promise_basis) VALUES ('a', 'unknown', '', 'unknown', 'ut_1', 1, 1, 0, 'reference')");

    migrate();

    sql(add + "('att_2', 'job_2', 't', 'ut_1', 1, 6, 5, 7, 'operators') ON CONFLICT DO NOTHING");
    sql("UPDATE run_prediction p SET outcome = 'succeeded', actual_run_s = 5 FROM attempt a WHERE a.id = p.attempt_id");
    EXPECT_EQ(sql("SELECT string_agg(concat_ws(' ', attempt_id, promised_low_s, promised_s, promised_high_s, "
                  "promise_basis), ', ' ORDER BY attempt_id) FROM run_prediction"),
              "att_1 2 3 4 reference, att_2 5 6 7 operators");
    EXPECT_EQ(sql("SELECT string_agg(concat_ws(' ', attempt_id, raw_prediction_low_s, raw_prediction_s, "
                  "raw_prediction_high_s, raw_prediction_basis, width_factor, outcome), ', ' ORDER BY attempt_id)"
                  " FROM prediction"),
              "att_1 2 3 4 reference 1 succeeded, att_2 5 6 7 operators 1 succeeded");
    EXPECT_EQ(sql("WITH gone AS (DELETE FROM run_prediction WHERE attempt_id = ANY ('{att_1}') RETURNING 1)"
                  " SELECT count(*) FROM gone"),
              "1");
    sql(add_run + "promise_basis) VALUES ('b', 'unknown', '', 'unknown', 'ut_1', 1, 1, 0, '')");
    sql(add_run + "raw_prediction_basis) VALUES ('c', 'unknown', '', 'unknown', 'ut_1', 1, 1, 0, 'operators')");
    EXPECT_EQ(sql("SELECT string_agg(kind || raw_prediction_basis || ' ' || promise_basis, ', ' ORDER BY id)"
                  " FROM gpu_sharing_run"),
              "areference reference, b , coperators operators");
    EXPECT_ANY_THROW(sql(add_run + "promise_basis) VALUES ('d', 'unknown', '', 'unknown', 'ut_1', 1, 1, 0, 'no')"));
}

TEST_F(FormerNames, OfPriorityRanksAreReadAndWritten)
{
    sql("UPDATE job SET turn = 5");

    migrate();

    const std::string ranks = "SELECT string_agg(concat_ws(' ', id, priority_rank, turn), ', ' ORDER BY id) FROM job";
    EXPECT_EQ(sql(ranks), "job_1 5 0, job_2 5 0") << "not ordered yet, to a replica of the version before";
    sql("UPDATE job SET turn = n.turn FROM (VALUES ('job_1', 7), ('job_2', 6)) AS n (id, turn) WHERE job.id = n.id");
    EXPECT_EQ(sql(ranks), "job_1 7 7, job_2 6 6");
    sql("UPDATE job SET priority_rank = 3 WHERE id = 'job_2'");
    sql("UPDATE job SET state = 'metering'");
    EXPECT_EQ(sql(ranks), "job_1 7 7, job_2 3 3");
    sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_3', 'n', 'p', '{}', 'tok_1')");
    EXPECT_EQ(sql("SELECT string_agg(id, ' ' ORDER BY turn, id) FROM job WHERE (turn, id) > (0, 'job_2')"),
              "job_3 job_2 job_1");
}

TEST_F(FormerNames, OfShadowPricesAreReadAndWritten)
{
    const std::string add = "INSERT INTO unit_load (unit_type_id, busy_share, noted_at, worth) VALUES ";
    const std::string or_set = " ON CONFLICT (unit_type_id) DO UPDATE SET worth = excluded.worth";
    sql(add + "('ut_1', 0.5, now(), 2)");

    migrate();

    const std::string prices = "SELECT concat_ws(' ', shadow_price, worth) FROM unit_load";
    EXPECT_EQ(sql(prices), "2 2");
    sql(add + "('ut_1', 0.5, now(), 3)" + or_set);
    EXPECT_EQ(sql(prices), "3 3");
    sql(add + "('ut_1', 0.5, now(), NULL)" + or_set);
    EXPECT_EQ(sql(prices), "");
    const std::string add_now = "INSERT INTO unit_load (unit_type_id, busy_share, noted_at, shadow_price) VALUES ";
    const std::string or_set_now = " ON CONFLICT (unit_type_id) DO UPDATE SET shadow_price = excluded.shadow_price";
    sql(add_now + "('ut_1', 0.5, now(), 4)" + or_set_now);
    EXPECT_EQ(sql(prices), "4 4");
    sql(add_now + "('ut_1', 0.5, now(), NULL)" + or_set_now);
    EXPECT_EQ(sql(prices), "");
    sql("DELETE FROM unit_load");
    sql(add + "('ut_1', 0.5, now(), 5)" + or_set);
    EXPECT_EQ(sql(prices), "5 5");
}

TEST_F(FormerNames, OfTheLearningQueueAreReadAndWritten)
{
    const std::string add = "INSERT INTO job_lesson (job_type, submitted_by, project, job_id) VALUES ";
    const std::string or_not = " ON CONFLICT (job_type, submitted_by, project) DO NOTHING";
    sql(add + "('a', 'tok_1', 'p', 'job_1')" + or_not);

    migrate();

    sql(add + "('a', 'tok_1', 'p', 'job_2')" + or_not);
    sql(add + "('b', 'tok_1', 'p', 'job_2')" + or_not);
    EXPECT_EQ(sql("SELECT string_agg(job_type || ' ' || job_id, ', ' ORDER BY job_type) FROM learning_queue"),
              "a job_1, b job_2");
    EXPECT_EQ(sql("WITH taken AS (DELETE FROM job_lesson WHERE (job_type, submitted_by, project) IN ("
                  "SELECT job_type, submitted_by, project FROM job_lesson ORDER BY noted_at LIMIT 1"
                  " FOR UPDATE SKIP LOCKED) RETURNING job_id) SELECT string_agg(job_id, ' ') FROM taken"),
              "job_1");
    EXPECT_EQ(sql("SELECT count(*) FROM learning_queue"), "1");
}

TEST_F(FormerNames, OfQuotasAreReadAndWritten)
{
    const std::string add = "INSERT INTO project (name, changed_by, most_units, most_score_hours, most_cost_micros) "
                            "VALUES ";
    const std::string or_set = " ON CONFLICT (name) DO UPDATE SET most_units = excluded.most_units, "
                               "most_score_hours = excluded.most_score_hours, "
                               "most_cost_micros = excluded.most_cost_micros";
    sql(add + "('kept', 'x', 1, 2, 3)");

    migrate();

    const std::string quotas = "SELECT string_agg(concat_ws(' ', name, max_units, max_score_hours, max_cost_micros, "
                               "most_units, most_score_hours, most_cost_micros), ', ' ORDER BY name) FROM project"
                               " WHERE changed_by = 'x'";
    EXPECT_EQ(sql(quotas), "kept 1 2 3 1 2 3");
    sql(add + "('kept', 'x', 4, 5, 0), ('new', 'x', 7, 8, 9)" + or_set);
    EXPECT_EQ(sql(quotas), "kept 4 5 0 4 5 0, new 7 8 9 7 8 9");
    sql("INSERT INTO project (name, changed_by, max_units) VALUES ('kept', 'x', 6), ('newer', 'x', 5)"
        " ON CONFLICT (name) DO UPDATE SET max_units = excluded.max_units, max_score_hours = 0");
    EXPECT_EQ(sql(quotas), "kept 6 0 0 6 0 0, new 7 8 9 7 8 9, newer 5 0 0 5 0 0");
    EXPECT_ANY_THROW(sql("UPDATE project SET most_units = -1"));
}

} // namespace
} // namespace fathom::server
