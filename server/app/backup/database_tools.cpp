#include "server/app/backup/database_tools.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr std::chrono::minutes kQueryLimit{10};      // one that only looks; something may hold locks meanwhile
constexpr std::chrono::hours kStatementLimit{24};    // ANALYZE reads a part of all tables, however large they are
constexpr std::string_view kMark = "fathom-answer="; // before the value, as psql may write warnings, too

constexpr const char* kObjects = R"sql(
    SELECT count(*) FROM (
        SELECT oid, 'pg_class'::regclass AS kind, relnamespace AS namespace FROM pg_class WHERE relkind NOT IN ('i', 't')
        UNION ALL SELECT oid, 'pg_proc'::regclass, pronamespace FROM pg_proc) AS object
    JOIN pg_namespace ON pg_namespace.oid = object.namespace
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = object.kind AND objid = object.oid AND deptype = 'e'))sql";
constexpr const char* kIsFathoms =
    "SELECT to_regclass('schema_migration') IS NOT NULL AND to_regclass('api_token') IS NOT NULL";
constexpr const char* kTables = "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
                                "WHERE relkind = 'r' AND nspname !~ '^pg_' AND nspname <> 'information_schema'";

/// Ours, but in English, and of no other user's home.
std::vector<std::string> tool_environment(const ToolConnection& connection, bool is_other_user)
{
    constexpr std::array<std::string_view, 3> kLanguage{"LC_", "LANG=", "LANGUAGE="};
    std::vector<std::string> variables = connection.environment;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('=') + 1);
        const bool is_language = std::any_of(kLanguage.begin(), kLanguage.end(),
                                             [&](std::string_view start) { return text.starts_with(start); });
        const bool is_given = std::any_of(connection.environment.begin(), connection.environment.end(),
                                          [&](const std::string& given) { return given.starts_with(name); });
        if (is_language || is_given || (is_other_user && name == "HOME=")) continue;
        variables.emplace_back(text);
    }
    variables.emplace_back("LC_ALL=C");
    if (is_other_user) variables.emplace_back("HOME=/nonexistent");
    return variables;
}

Result<std::int64_t> to_count(const Result<std::string>& answer)
{
    if (!answer) return answer.error();
    const auto count = parse_number<std::int64_t>(*answer);
    if (!count) return Error{Errc::kInternal, "PostgreSQL gave no number: " + *answer};
    return *count;
}

} // namespace

DatabaseTools::DatabaseTools(PostgresBinaries programs, ToolConnection connection, std::optional<UnixUser> user)
    : programs_(std::move(programs)), connection_(std::move(connection)), user_(std::move(user))
{
}

Result<std::string> DatabaseTools::ask(const std::string& query) const
{
    const std::string marked = "SELECT '" + std::string(kMark) + "' || (" + query + ")";
    const Result<std::string> output =
        run_child(program("psql", {"--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--no-password",
                                   "--dbname=" + connection_.text, "--command=" + marked}),
                  kQueryLimit);
    if (!output) return output.error();
    const std::size_t start = output->find(kMark);
    if (start == std::string::npos) return Error{Errc::kInternal, "psql gave no answer: " + *output};
    const std::string_view rest = std::string_view(*output).substr(start + kMark.size());
    return std::string(rest.substr(0, rest.find('\n')));
}

Result<void> DatabaseTools::execute(const std::string& statement) const
{
    const Result<std::string> output =
        run_child(program("psql", {"--no-psqlrc", "--quiet", "--no-password", "--dbname=" + connection_.text,
                                   "--command=" + statement}),
                  kStatementLimit);
    if (!output) return output.error();
    return {};
}

ChildOptions DatabaseTools::dump() const
{
    return program("pg_dump", {"--format=custom", "--no-owner", "--no-privileges", "--no-password", "--verbose",
                               "--dbname=" + connection_.text});
}

ChildOptions DatabaseTools::restore() const
{
    return program("pg_restore", {"--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges",
                                  "--no-password", "--verbose", "--dbname=" + connection_.text});
}

ChildOptions DatabaseTools::read_archive(const std::vector<std::string>& arguments) const
{
    return program("pg_restore", arguments);
}

ChildOptions DatabaseTools::program(const char* name, const std::vector<std::string>& arguments) const
{
    ChildOptions options;
    options.arguments = {(programs_.folder / name).string()};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.user = user_;
    options.environment = tool_environment(connection_, user_.has_value());
    return options;
}

Result<std::int64_t> count_objects(const DatabaseTools& tools)
{
    return to_count(tools.ask(kObjects));
}

Result<std::int64_t> count_tables(const DatabaseTools& tools)
{
    const Result<std::string> is_fathoms = tools.ask(kIsFathoms);
    if (!is_fathoms) return is_fathoms.error();
    if (*is_fathoms != "true" && *is_fathoms != "t")
        return Error{Errc::kNotFound, "the database holds nothing of Fathom"};
    return to_count(tools.ask(kTables));
}

bool is_table_line(std::string_view line)
{
    return line.starts_with("pg_dump: dumping contents of table ") ||
           line.starts_with("pg_restore: processing data for table ");
}

bool is_progress_line(std::string_view line)
{
    if (!line.starts_with("pg_dump: ") && !line.starts_with("pg_restore: ")) return false;
    const std::string_view said = line.substr(line.find(' ') + 1);
    return !said.starts_with("error:") && !said.starts_with("warning:") && !said.starts_with("detail:") &&
           !said.starts_with("hint:") && !said.starts_with("fatal:") && !said.starts_with("from TOC entry");
}

} // namespace fathom::server
