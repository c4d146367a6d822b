#include "core/base/secret.hpp"
#include "schema/embedded.hpp"
#include "server/store/migrations.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <future>

namespace fathom::server {
namespace {

using test::run_sql;

constexpr EmbeddedFile kFirst{"sql/0001_first.sql", "CREATE TABLE first (id int); INSERT INTO first VALUES (1);"};
constexpr EmbeddedFile kSecond{"sql/0002_second.sql", "ALTER TABLE first ADD COLUMN name text;"};

Result<void> migrate_url(const std::string& url, std::vector<EmbeddedFile> files)
{
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    return migrate(database, files);
}

/// Of our own, those with smaller names.
std::vector<EmbeddedFile> files_before(std::string_view name)
{
    std::vector<EmbeddedFile> files;
    for (const EmbeddedFile& file : schema::sql::embedded_files()) {
        if (file.name < name) files.push_back(file);
    }
    return files;
}

TEST(Migrations, BringAnEmptyDatabaseToTheNewestSchema)
{
    const std::string url = test::empty_database();
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);

    const Result<void> done = migrate(database, schema::sql::embedded_files());

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(run_sql(url, "SELECT count(*) FROM schema_migration"),
              std::to_string(schema::sql::embedded_files().size()));
    EXPECT_EQ(run_sql(url, "SELECT to_regclass('job') IS NOT NULL"), "t");
}

TEST(Migrations, TellAheadWhetherTheyCanBeApplied)
{
    const std::vector<EmbeddedFile> files{kFirst};
    const AppliedMigration first{1, "first", sha256_hex(kFirst.content), "then"};
    const AppliedMigration second{2, "second", sha256_hex(kSecond.content), "then"};

    EXPECT_TRUE(check_migrations({}, files, "the backup"));
    EXPECT_TRUE(check_migrations({first}, files, "the backup"));
    const Result<void> newer = check_migrations({first, second}, files, "the backup");
    ASSERT_FALSE(newer);
    EXPECT_NE(newer.error().detail.find("the backup has migration 2 (second)"), std::string::npos);
    EXPECT_FALSE(check_migrations({{1, "first", "another", "then"}}, files, "the backup"));
}

TEST(Migrations, LeaveAccountsTheirPasswordsAndOneWayToSignIn)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0027")));
    run_sql(url, "INSERT INTO api_token (id, name, secret_sha256, role, created_by, kind)"
                 " VALUES ('tok_1', 'ada', repeat('0', 64), 'user', 'tok_0', 'account')");
    run_sql(url, "INSERT INTO user_account (name, token_id, password_hash) VALUES ('ada', 'tok_1', 'hash')");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT password_hash FROM user_account WHERE issuer IS NULL AND subject IS NULL"), "hash");
    for (const char* both : {"issuer = 'https://id', subject = '1'", "password_hash = NULL", "subject = '1'"})
        EXPECT_ANY_THROW(run_sql(url, "UPDATE user_account SET " + std::string(both))) << both;
    run_sql(url, "UPDATE user_account SET issuer = 'https://id', subject = '1', password_hash = NULL");
}

TEST(Migrations, TheAuthorityThatThereIsSigns)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0040")));
    run_sql(url,
            "INSERT INTO authority (certificate_pem, sealed_key, created_at) VALUES ('pem', 'sealed', '2026-01-02')");
    run_sql(url, "INSERT INTO center (id, name, certificate_serial) VALUES ('ctr_1', 'alpha', 'ab')");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT role || ' ' || (role_since = created_at) || ' ' || renew_within_s FROM authority"),
              "current true 1");
    EXPECT_EQ(run_sql(url, "SELECT certificate_authority IS NULL AND trusted_authorities IS NULL FROM center"), "t");
    EXPECT_ANY_THROW(run_sql(url, "INSERT INTO authority (certificate_pem, sealed_key) VALUES ('pem', 'sealed')"));
}

TEST(Migrations, TheHostsOfCentersThatThereAreAreNotKnown)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0041")));
    run_sql(url, "INSERT INTO center (id, name) VALUES ('ctr_1', 'alpha')");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT host_id IS NULL FROM center"), "t");
}

TEST(Migrations, CountChangesOfMeasurementsThatThereWereAndOfNewOnes)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0034")));
    run_sql(url, "ALTER TABLE measurement DROP CONSTRAINT measurement_probe_run_id_fkey"); // of no run
    run_sql(url, "INSERT INTO center (id, name, state) VALUES ('cen_1', 'alpha', 'online')");
    run_sql(url, "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit,"
                 " memory_bytes_per_unit, operators) VALUES ('ut_1', 'cen_1', 'core', 'cpu', 1, 1, 0, '{}')");
    const auto measure = [&](const std::string& run) {
        run_sql(url, "INSERT INTO measurement (probe_run_id, operator_id, parameters_key, operations, bytes,"
                     " operator_version, parameters, unit_type_id, unit_count, median_s, ci_low_s, ci_high_s, spread,"
                     " sample_count, outlier_count, error, tolerance, precision, library, checksum, start_up_s)"
                     " VALUES ('" +
                         run +
                         "', 'dgemm', 'n=8', 1, 1, 1, '{}', 'ut_1', 1, 1, 1, 1, 0, 7, 0, 0, 1, 'fp64', '', '', 0)");
    };
    measure("run_1");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    const std::string version = "SELECT version FROM measurement_change WHERE unit_type_id = 'ut_1'";
    EXPECT_EQ(run_sql(url, version), "1");
    measure("run_2");
    EXPECT_EQ(run_sql(url, version), "2");
    run_sql(url, "UPDATE measurement SET void_reason = 'forged' WHERE probe_run_id = 'run_2'");
    EXPECT_EQ(run_sql(url, version), "3");
    run_sql(url, "DELETE FROM measurement WHERE probe_run_id = 'run_1'");
    EXPECT_EQ(run_sql(url, version), "4");
}

TEST(Migrations, PutEventsIntoTheMonthsOfTheirJobs)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0037")));
    run_sql(url, "INSERT INTO job (id, name, project, spec, submitted_at, submitted_by) VALUES"
                 " ('job_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'n', 'p', '{}', '2016-07-30T23:54:10Z', 'tok_1')");
    run_sql(url, "INSERT INTO job_event (job_id, state, cause) VALUES"
                 " ('job_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'queued', 'one'), ('gone', 'queued', 'two'),"
                 " ('job_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'placed', 'three')");
    const std::string rows =
        "SELECT string_agg(concat_ws(' ', id, job_id, at, state, cause, evidence), '|' ORDER BY id) FROM job_event";
    const std::string before = run_sql(url, rows);

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, rows), before);
    EXPECT_EQ(run_sql(url, "SELECT string_agg(tableoid::regclass || ' ' || cause, ',' ORDER BY id) FROM job_event"),
              "job_event_2016_07 one,job_event_other two,job_event_2016_07 three");
    EXPECT_EQ(run_sql(url, "INSERT INTO job_event (job_id, state, cause) VALUES ('x', 'queued', '') RETURNING id"),
              "4");
    EXPECT_EQ(run_sql(url, "SELECT count(*) FROM job_event_month WHERE first_day > '2016-07-01'"), "2");
}

TEST(Migrations, RunsThatThereWereGetTheTimeThatWasAskedFor)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0043")));
    run_sql(url, "ALTER TABLE run_prediction DROP CONSTRAINT run_prediction_attempt_id_fkey,"
                 " DROP CONSTRAINT run_prediction_unit_type_id_fkey"); // of no attempt
    const auto add_run = [&](const std::string& name, const std::string& spec, const std::string& ended_at) {
        run_sql(url, "INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_" + name + "', 'n', 'p', '" +
                         spec + "', 'tok_1')");
        run_sql(url, "INSERT INTO run_prediction (attempt_id, job_id, job_type, unit_type_id, unit_count, ended_at)"
                     " VALUES ('" +
                         name + "', 'job_" + name + "', 't', 'ut_1', 1, " + ended_at + ")");
    };
    add_run("asked", R"({"wall_limit_s": 600})", "now()");
    add_run("runs", R"({"wall_limit_s": 700})", "NULL");
    add_run("usual", R"({"wall_limit_s": 86400})", "now()");
    add_run("silent", "{}", "now()");
    add_run("old", R"({"wall_limit_s": 800})", "now() - interval '91 days'");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT string_agg(attempt_id || ' ' || asked_s, ',' ORDER BY attempt_id)"
                           " FROM prediction"),
              "asked 600,old 0,runs 700,silent 0,usual 0");
}

TEST(Migrations, NoteWhichTransactionChangedAttemptsThatThereWere)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0056")));
    run_sql(url, "INSERT INTO center (id, name) VALUES ('ctr_1', 'alpha')");
    run_sql(url, "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit,"
                 " memory_bytes_per_unit, operators) VALUES ('ut_1', 'ctr_1', 'core', 'cpu', 4, 1, 0, '{}')");
    run_sql(url, "INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_1', 'n', 'p', '{}', 'tok_1')");
    run_sql(url, "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by)"
                 " VALUES ('att_1', 'job_1', 1, 'ctr_1', 'ut_1', 1, 'rep_1')");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT changed_in FROM attempt"), "0");
    run_sql(url, "UPDATE attempt SET counted = true");
    EXPECT_EQ(run_sql(url, "SELECT changed_in FROM attempt"), "0") << "nothing that the router reads";
    run_sql(url, "UPDATE attempt SET state = 'running'");
    EXPECT_EQ(run_sql(url, "SELECT changed_in::text = xmin::text FROM attempt"), "t");
}

TEST(Migrations, EndsThatThereWereGetTheCauseThatTheirWordsTold)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0064")));
    run_sql(url, "INSERT INTO center (id, name) VALUES ('ctr_1', 'alpha')");
    run_sql(url, "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit,"
                 " memory_bytes_per_unit, operators) VALUES ('ut_1', 'ctr_1', 'core', 'cpu', 4, 1, 0, '{}')");
    run_sql(url, "INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_1', 'n', 'p', '{}', 'tok_1')");
    const auto add_end = [&](int epoch, const std::string& outcome, const std::string& exit_code,
                             const std::string& detail) {
        run_sql(url, "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, state,"
                     " outcome, exit_code, detail) VALUES ('att_" +
                         std::to_string(epoch) + "', 'job_1', " + std::to_string(epoch) +
                         ", 'ctr_1', 'ut_1', 1, 'rep_1', 'ended', '" + outcome + "', " + exit_code + ", '" + detail +
                         "')");
    };
    add_end(1, "failed_to_start", "NULL", "cannot start \"x\": No such file or directory");
    add_end(2, "failed_to_start", "NULL", "staging failed: https://h/x: the server answered 404");
    add_end(3, "failed_to_start", "NULL", "no local user: this center has none for ann");
    add_end(4, "exited", "NULL", "outputs could not be stored: y to https://h/y");
    add_end(5, "failed_to_start", "NULL", "Slurm refuses it");
    add_end(6, "exited", "0", "staging failed: so it says");
    add_end(7, "lost", "NULL", "no local user: so it says");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT string_agg(cause, ' ' ORDER BY epoch) FROM attempt"),
              "program_not_started staging_failed no_local_user outputs_failed none none none");
}

TEST(Migrations, CopiesThatThereWereCountByTheirMedians)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, files_before("sql/0073")));
    run_sql(url, "ALTER TABLE copy_measurement DROP CONSTRAINT copy_measurement_probe_run_id_fkey"); // of no run
    run_sql(url, "INSERT INTO center (id, name) VALUES ('ctr_1', 'alpha')");
    run_sql(url, "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit,"
                 " memory_bytes_per_unit, operators) VALUES ('ut_1', 'ctr_1', 'core', 'cpu', 4, 1, 0, '{}')");
    run_sql(url, "INSERT INTO copy_measurement (probe_run_id, copy, operator_id, operator_version, parameters_key,"
                 " unit_type_id, copies, median_s, ci_low_s, ci_high_s, alone_s)"
                 " VALUES ('run_1', 1, 'dgemm', 1, 'n=8', 'ut_1', 2, 2, 2, 2, 1)");

    const auto all = schema::sql::embedded_files();
    ASSERT_TRUE(migrate_url(url, {all.begin(), all.end()}));

    EXPECT_EQ(run_sql(url, "SELECT slowdown IS NULL AND slowdown_deviation = 0 FROM copy_measurement"), "t");
}

TEST(Migrations, ApplyOnlyWhatIsNew)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, {kFirst}));

    ASSERT_TRUE(migrate_url(url, {kFirst}));
    ASSERT_TRUE(migrate_url(url, {kSecond, kFirst})); // in any order of the list

    EXPECT_EQ(run_sql(url, "SELECT count(*) FROM first"), "1");
    EXPECT_EQ(run_sql(url, "SELECT string_agg(version || name, ',' ORDER BY version) FROM schema_migration"),
              "1first,2second");
}

TEST(Migrations, TwoServersMayMigrateAtOnce)
{
    const std::string url = test::empty_database();

    std::vector<std::future<Result<void>>> replicas;
    for (int i = 0; i < 4; ++i)
        replicas.push_back(std::async(std::launch::async, [&] { return migrate_url(url, {kFirst, kSecond}); }));

    for (auto& replica : replicas) {
        const Result<void> done = replica.get();
        EXPECT_TRUE(done) << done.error().detail;
    }
    EXPECT_EQ(run_sql(url, "SELECT count(*) FROM first"), "1");
}

TEST(Migrations, RefuseAChangedFileAndChangeNothing)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, {kFirst}));

    const Result<void> done = migrate_url(url, {{"sql/0001_first.sql", "CREATE TABLE first (id bigint)"}, kSecond});

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::kConflict);
    EXPECT_NE(done.error().detail.find("1 (first)"), std::string::npos) << done.error().detail;
    EXPECT_EQ(run_sql(url, "SELECT count(*) FROM schema_migration"), "1");
}

TEST(Migrations, RefuseADatabaseOfANewerProgram)
{
    const std::string url = test::empty_database();
    ASSERT_TRUE(migrate_url(url, {kFirst, kSecond}));

    const Result<void> done = migrate_url(url, {kFirst});

    ASSERT_FALSE(done);
    EXPECT_NE(done.error().detail.find("newer"), std::string::npos) << done.error().detail;
}

TEST(Migrations, AFailedOneLeavesNoTrace)
{
    const std::string url = test::empty_database();
    const EmbeddedFile broken{"sql/0002_second.sql", "CREATE TABLE second (id int); SELECT no_such_function();"};

    const Result<void> done = migrate_url(url, {kFirst, broken});

    ASSERT_FALSE(done);
    EXPECT_EQ(run_sql(url, "SELECT to_regclass('second') IS NULL"), "t");
    EXPECT_EQ(run_sql(url, "SELECT max(version) FROM schema_migration"), "1");
}

TEST(Migrations, FilesMustBeNumberedWithoutGaps)
{
    const std::string url = test::empty_database();

    EXPECT_EQ(migrate_url(url, {kSecond}).error().code, Errc::kInvalid);
    EXPECT_EQ(migrate_url(url, {{"sql/first.sql", ""}}).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::server
