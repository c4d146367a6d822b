#include "server/app/backup/transfer.hpp"

#include "core/base/error_text.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "server/app/backup/progress.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::server {
namespace {

/// What the programs write, as steps of so many tables.
class TableCount {
  public:
    explicit TableCount(std::int64_t all) : all_(all) {}

    /// As ToolWatch::on_line.
    bool take(std::string_view line)
    {
        if (is_table_line(line)) ++begun_;
        return !is_progress_line(line);
    }
    std::string text() const
    {
        return "table " + std::to_string(begun_) + " of " + std::to_string(std::max(all_, begun_));
    }

  private:
    std::int64_t all_;
    std::int64_t begun_ = 0;
};

/// Else PostgreSQL's plans are bad until it looks by itself.
Result<void> look_at_rows(const DatabaseTools& target, Progress& progress)
{
    progress.tell("looking at what the tables hold");
    return target.execute("ANALYZE");
}

} // namespace

Result<std::int64_t> dump_database(const DatabaseTools& source, const NewFile& file, StopRequest& stop)
{
    const Result<std::int64_t> tables = count_tables(source);
    if (!tables) return tables.error();
    TableCount count(*tables);
    Progress progress("fathomd backup");
    ChildOptions dump = source.dump();
    dump.output = file.number();
    const ToolWatch watch{
        .on_line = [&](std::string_view line) { return count.take(line); },
        .on_tick = [&] { progress.tell(count.text() + ", " + bytes_text(static_cast<double>(file.size()))); }};
    if (Result<void> done = run_tools({dump}, {}, stop, watch); !done) return done.error();
    return *tables;
}

Result<void> check_empty(const DatabaseTools& tools)
{
    const Result<std::int64_t> objects = count_objects(tools);
    if (!objects) return objects.error();
    if (*objects == 0) return {};
    return Error{Errc::kConflict, "the database is not empty (" + std::to_string(*objects) +
                                      " tables and other objects), and nothing of it is replaced; name an empty one, "
                                      "or another state folder"};
}

Result<void> restore_database(const BackupArchive& archive, const DatabaseTools& target, StopRequest& stop)
{
    if (Result<void> done = rewind(archive.file); !done) return done;
    TableCount count(archive.tables);
    Progress progress("fathomd restore");
    ChildOptions restore = target.restore();
    restore.input = archive.file.number();
    const ToolWatch watch{.on_line = [&](std::string_view line) { return count.take(line); },
                          .on_tick = [&] { progress.tell(count.text()); }};
    if (Result<void> done = run_tools({restore}, {}, stop, watch); !done) return done;
    return look_at_rows(target, progress);
}

Result<std::int64_t> copy_database(const DatabaseTools& source, const DatabaseTools& target, StopRequest& stop)
{
    const Result<std::int64_t> tables = count_tables(source);
    if (!tables) return tables.error();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::kUnavailable, "pipe: " + error_text(errno)};
    std::vector<OpenFile> pipe;
    pipe.emplace_back(ends[0]);
    pipe.emplace_back(ends[1]);
    ChildOptions restore = target.restore();
    restore.input = ends[0];
    ChildOptions dump = source.dump();
    dump.output = ends[1];
    TableCount count(*tables);
    Progress progress("fathomd move-database");
    const auto take = [&](std::string_view line) {
        // Of each table both tell; the slower one counts.
        return line.starts_with("pg_dump: ") ? !is_progress_line(line) : count.take(line);
    };
    const ToolWatch watch{.on_line = take, .on_tick = [&] { progress.tell(count.text()); }};
    if (Result<void> done = run_tools({restore, dump}, std::move(pipe), stop, watch); !done) return done.error();
    if (Result<void> done = look_at_rows(target, progress); !done) return done.error();
    return *tables;
}

} // namespace fathom::server
