#include "schema/embedded.hpp"
#include "server/app/child_process.hpp"
#include "server/app/embedded_postgres.hpp"
#include "server/app/postgres_binaries.hpp"
#include "server/store/migrations.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace fathom::server {
namespace {

using test::run_sql;
using test::TemporaryFolder;
using ::testing::HasSubstr;

/// Relations, functions and types outside of PostgreSQL's own schemas that belong to somebody else than the pool's
/// role.
constexpr const char* kOwnedByOthers = R"sql(
    SELECT string_agg(name, ' ') FROM (
        SELECT oid::regclass::text AS name, relnamespace AS space, relowner AS owner FROM pg_class
        UNION ALL SELECT oid::regprocedure::text, pronamespace, proowner FROM pg_proc
        UNION ALL SELECT oid::regtype::text, typnamespace, typowner FROM pg_type) AS object
    WHERE space::regnamespace::text NOT IN ('pg_catalog', 'pg_toast', 'information_schema')
      AND owner <> 'fathomd'::regrole)sql";

std::unique_ptr<EmbeddedPostgres> start_server(EmbeddedPostgres::Options options)
{
    options.flush_new_cluster = false;
    auto started = EmbeddedPostgres::start(std::move(options));
    if (!started) throw std::runtime_error(started.error().detail);
    return std::move(*started);
}

Result<void> migrate_url(const std::string& url)
{
    Metrics metrics;
    Database database({.url = url, .connections = 1}, metrics);
    return migrate(database, schema::sql::embedded_files());
}

/// What PostgreSQL says against a statement; empty: nothing.
std::string refusal_of(const std::string& url, const std::string& sql)
{
    try {
        run_sql(url, sql);
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

TEST(EmbeddedPostgresRoles, ThePoolWorksAsTheOwnerAndNotAsASuperuser)
{
    const TemporaryFolder state;
    const auto postgres = start_server({.state_dir = state.path()});
    const std::string& url = postgres->url();

    const Result<void> migrated = migrate_url(url);

    ASSERT_TRUE(migrated) << migrated.error().detail;
    EXPECT_EQ(run_sql(url, "SELECT current_user"), "fathomd");
    EXPECT_EQ(run_sql(url, "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls"
                           " FROM pg_roles WHERE rolname = current_user"),
              "f");
    EXPECT_EQ(run_sql(url, "SELECT datdba::regrole FROM pg_database WHERE datname = 'fathom'"), "fathomd");
    EXPECT_EQ(run_sql(url, kOwnedByOthers), "");
}

TEST(EmbeddedPostgresRoles, ThePoolReachesNeitherFilesNorProgramsNorOtherDatabases)
{
    const TemporaryFolder state;
    const auto postgres = start_server({.state_dir = state.path()});
    const std::string& url = postgres->url();

    EXPECT_THAT(refusal_of(url, "COPY (SELECT 1) TO PROGRAM 'true'"), HasSubstr("pg_execute_server_program"));
    EXPECT_THAT(refusal_of(url, "COPY (SELECT 1) TO '/tmp/fathom-written'"), HasSubstr("pg_write_server_files"));
    EXPECT_THAT(refusal_of(url, "SELECT pg_read_file('PG_VERSION')"), HasSubstr("permission denied"));
    EXPECT_THAT(refusal_of(url, "SET ROLE fathom"), HasSubstr("permission denied"));
    EXPECT_THAT(refusal_of(url, "CREATE ROLE another"), HasSubstr("permission denied"));
    const std::string other = url.substr(0, url.rfind("dbname=")) + "dbname=postgres";
    EXPECT_THAT(refusal_of(other, "SELECT 1"), HasSubstr("no pg_hba.conf entry"));
}

/// The database as a release left it in which the pool worked as the superuser.
void make_as_earlier_release(const EmbeddedPostgres& postgres)
{
    const std::string url = postgres.superuser_url();
    run_sql(url, "ALTER DATABASE fathom OWNER TO fathom");
    run_sql(url, "DROP ROLE fathomd");
    migrate_url(url).value();
    run_sql(url, "INSERT INTO center (id, name, state) VALUES ('cen_1', 'alpha', 'online')");
    // Of kinds that migrations do not make, or not yet.
    run_sql(url,
            "CREATE SCHEMA \"Other\"; CREATE TYPE \"Other\".kind AS ENUM ('a'); CREATE DOMAIN \"Other\".part AS text;"
            "CREATE TYPE \"Other\".pair AS (x int, y int); CREATE SEQUENCE \"Other\".numbers;"
            "CREATE TABLE \"Other\".\"Old rows\" (id serial, kind \"Other\".kind);"
            "CREATE MATERIALIZED VIEW \"Other\".sums AS SELECT count(*) FROM \"Other\".\"Old rows\"");
}

TEST(EmbeddedPostgresRoles, WhatAnEarlierReleaseMadeIsGivenToThePoolsRole)
{
    const TemporaryFolder state;
    {
        const auto earlier = start_server({.state_dir = state.path()});
        make_as_earlier_release(*earlier);
        earlier->stop();
    }

    const auto postgres = start_server({.state_dir = state.path()});
    const std::string& url = postgres->url();

    EXPECT_EQ(run_sql(url, "SELECT datdba::regrole FROM pg_database WHERE datname = 'fathom'"), "fathomd");
    EXPECT_EQ(run_sql(url, kOwnedByOthers), "");
    EXPECT_EQ(run_sql(url, "SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'Other'"), "fathomd");
    EXPECT_EQ(run_sql(url, "SELECT name FROM center"), "alpha");
    run_sql(url, "ALTER TABLE center ADD COLUMN of_a_later_migration text");
    run_sql(url, "INSERT INTO \"Other\".\"Old rows\" (kind) VALUES ('a')");
    EXPECT_TRUE(migrate_url(url));
}

TEST(EmbeddedPostgresRoles, WhatBelongsToAnExtensionStaysTheSuperusers)
{
    const TemporaryFolder state;
    {
        const auto first = start_server({.state_dir = state.path()});
        // As a member of an extension that every PostgreSQL has.
        run_sql(first->superuser_url(), "CREATE VIEW of_extension AS SELECT 1 AS one;"
                                        "ALTER EXTENSION plpgsql ADD VIEW of_extension");
        first->stop();
    }

    const auto second = start_server({.state_dir = state.path()});

    EXPECT_EQ(run_sql(second->url(), "SELECT relowner::regrole FROM pg_class WHERE relname = 'of_extension'"),
              "fathom");
}

TEST(EmbeddedPostgresRoles, LetNobodyElseInAsTheSuperuser)
{
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const TemporaryFolder state;
    const UnixUser other{"nobody", 65534, 65534};
    const auto postgres = start_server({.state_dir = state.path(), .client_group = other.gid});
    const Result<PostgresBinaries> tools = find_postgres_tools(postgres_search_folders(), std::nullopt);
    ASSERT_TRUE(tools) << tools.error().detail;
    const auto asked_as = [&](const std::string& url) {
        ChildOptions psql;
        psql.arguments = {(tools->folder / "psql").string(), "--no-psqlrc", "--dbname=" + url,
                          "--command=SELECT 'as ' || current_user"};
        psql.user = other;
        const Result<std::string> answer = run_child(std::move(psql), kAnswerLimit);
        return answer ? *answer : answer.error().detail;
    };

    EXPECT_THAT(asked_as(postgres->url()), HasSubstr("as fathomd"));
    EXPECT_THAT(asked_as(postgres->superuser_url()), HasSubstr("Peer authentication failed"));
    EXPECT_EQ(run_sql(postgres->superuser_url(), "SELECT current_user"), "fathom");
}

} // namespace
} // namespace fathom::server
