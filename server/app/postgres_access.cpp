#include "server/app/postgres_access.hpp"

#include "core/base/log.hpp"
#include "core/base/open_inside.hpp"

#include <libpq-fe.h>
#include <memory>
#include <pwd.h>
#include <unistd.h>

namespace fathom::server {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

constexpr const char* kRulesFile = "hba.conf";
constexpr const char* kNamesFile = "ident.conf";

// The owner needs no proof: a server that root has started may have an id without a name, which `peer` refuses.
constexpr const char* kRules = "# fathomd writes this file anew at each start.\n"
                               "local all fathom peer map=administrators\n"
                               "local replication fathom peer map=administrators\n"
                               "local fathom fathomd trust\n";

constexpr const char* kMakeOwner = R"sql(
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fathomd') THEN CREATE ROLE fathomd; END IF;
    END $$;
    ALTER ROLE fathomd LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS)sql";
constexpr const char* kFindDatabase = "SELECT FROM pg_database WHERE datname = 'fathom'";
constexpr const char* kMakeDatabase = "CREATE DATABASE fathom OWNER fathomd";
constexpr const char* kGiveDatabase = "ALTER DATABASE fathom OWNER TO fathomd";

// REASSIGN OWNED refuses the role that made the cluster, since PostgreSQL's own objects are its, too. What follows its
// table has no command: indexes, sequences of columns, types of rows and arrays. Names come with schema and quotes.
constexpr const char* kGiveObjects = R"sql(
    WITH space AS (
        SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    ), object AS (
        SELECT 'pg_namespace'::regclass AS kind, oid, format('SCHEMA %I', nspname) AS name FROM space
        WHERE nspowner = 'fathom'::regrole
        UNION ALL SELECT 'pg_class'::regclass, c.oid, format('TABLE %s', c.oid::regclass)
        FROM pg_class c JOIN space ON space.oid = relnamespace
        WHERE relowner = 'fathom'::regrole AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
          AND NOT (relkind = 'S' AND EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
                                             AND objid = c.oid AND deptype IN ('a', 'i')))
        UNION ALL SELECT 'pg_proc'::regclass, p.oid, format('ROUTINE %s', p.oid::regprocedure)
        FROM pg_proc p JOIN space ON space.oid = pronamespace WHERE proowner = 'fathom'::regrole
        UNION ALL SELECT 'pg_type'::regclass, t.oid, format('TYPE %s', t.oid::regtype)
        FROM pg_type t JOIN space ON space.oid = typnamespace LEFT JOIN pg_class c ON c.oid = typrelid
        WHERE typowner = 'fathom'::regrole AND typtype IN ('b', 'c', 'd', 'e', 'r') AND coalesce(relkind, 'c') = 'c'
          AND NOT EXISTS (SELECT FROM pg_type element WHERE element.typarray = t.oid)
    )
    SELECT string_agg(format('ALTER %s OWNER TO fathomd', name), ';'), count(*) FROM object
    WHERE NOT EXISTS (SELECT FROM pg_depend WHERE classid = kind AND objid = object.oid AND deptype = 'e'))sql";

/// Objects that others have put into a schema must not be what our statements name.
Connection connect_to(const PostgresFolder& folder, const char* database)
{
    const std::string target = connection_to(folder, PostgresRole::kSuperuser, database);
    return {PQconnectdb((target + " options='-c search_path=pg_catalog'").c_str()), &PQfinish};
}

Error not_prepared(const Connection& connection)
{
    return {Errc::kUnavailable,
            std::string("cannot prepare the embedded database: ") + PQerrorMessage(connection.get())};
}

Result<Rows> execute(const Connection& connection, const std::string& statements)
{
    Rows rows(PQexec(connection.get(), statements.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return not_prepared(connection);
    return rows;
}

/// All or nothing: PostgreSQL runs statements that come as one text in one transaction.
Result<void> give_objects(const PostgresFolder& folder)
{
    const Connection connection = connect_to(folder, "fathom");
    if (PQstatus(connection.get()) != CONNECTION_OK) return not_prepared(connection);
    const Result<Rows> found = execute(connection, kGiveObjects);
    if (!found) return found.error();
    if (PQgetisnull(found->get(), 0, 0) == 1) return {};
    const Result<Rows> given = execute(connection, PQgetvalue(found->get(), 0, 0));
    if (!given) return given.error();
    log_info("embedded_postgres_given_to_owner", {{"objects", std::string(PQgetvalue(found->get(), 0, 1))}});
    return {};
}

} // namespace

std::string quoted_item(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

Result<void> write_access_rules(const PostgresFolder& folder)
{
    std::string name = folder.user ? folder.user->name : "";
    if (!folder.user) {
        passwd entry{};
        passwd* found = nullptr;
        std::string text(16384, '\0');
        if (getpwuid_r(geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
            return Error{Errc::kUnavailable,
                         "user id " + std::to_string(geteuid()) + " has no name here; PostgreSQL needs one"};
        name = found->pw_name;
    }
    const int root = folder.opened->number();
    const std::string names = "administrators root fathom\nadministrators " + quoted_item(name) + " fathom\n";
    if (Result<void> done = replace_file(root, kNamesFile, names, folder.uid(), folder.gid()); !done) return done;
    return replace_file(root, kRulesFile, kRules, folder.uid(), folder.gid());
}

std::vector<std::string> access_settings(const PostgresFolder& folder)
{
    return {"hba_file=" + (folder.child_root / kRulesFile).string(),
            "ident_file=" + (folder.child_root / kNamesFile).string()};
}

Result<void> prepare_database(const PostgresFolder& folder)
{
    const Connection connection = connect_to(folder, "postgres");
    if (PQstatus(connection.get()) != CONNECTION_OK) return not_prepared(connection);
    if (const Result<Rows> made = execute(connection, kMakeOwner); !made) return made.error();
    const Result<Rows> found = execute(connection, kFindDatabase);
    if (!found) return found.error();
    const bool exists = PQntuples(found->get()) == 1;
    if (const Result<Rows> owned = execute(connection, exists ? kGiveDatabase : kMakeDatabase); !owned)
        return owned.error();
    return give_objects(folder);
}

} // namespace fathom::server
