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
