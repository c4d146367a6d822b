#include "tests/support/temporary_postgres.hpp"

#include "schema/embedded.hpp"
#include "server/app/embedded_postgres.hpp"
#include "server/store/migrations.hpp"

#include <atomic>
#include <cstdlib>
#include <libpq-fe.h>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// libpqxx 6.4 itself loses a result (about 2 KB) for each connection that breaks.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:libpqxx-6.4.so\n";
}
#endif
#endif

namespace fathom::test {
namespace {

class Cluster {
  public:
    Cluster()
    {
        server::EmbeddedPostgres::Options options;
        options.state_dir = folder_.path();
        options.extra_settings = {"fsync=off", "synchronous_commit=off", "full_page_writes=off"};
        options.flush_new_cluster = false;
        auto started = server::EmbeddedPostgres::start(std::move(options));
        if (!started) throw std::runtime_error(started.error().detail);
        server_ = std::move(*started);
        make("template_with_schema", "template1");
        Metrics metrics;
        server::Database database({.url = url("template_with_schema"), .connections = 1}, metrics);
        migrate(database, schema::sql::embedded_files()).value();
    }

    std::string url(const std::string& name) const
    {
        const std::string base = server_->superuser_url(); // who makes databases
        return base.substr(0, base.rfind("dbname=")) + "dbname=" + name;
    }

    std::string make(const std::string& name, const std::string& model)
    {
        // By its files: through the log, as is the default, takes two and a half times as long.
        run_sql(server_->superuser_url(), "CREATE DATABASE " + name + " TEMPLATE " + model + " STRATEGY file_copy");
        return url(name);
    }

  private:
    TemporaryFolder folder_;
    std::unique_ptr<server::EmbeddedPostgres> server_;
};

Cluster& cluster()
{
    static Cluster only_one;
    return only_one;
}

/// Where new folders go: into memory where that has room, as flushing and deleting a cluster of PostgreSQL takes a busy
/// disk longer than most tests. TMPDIR goes before.
std::filesystem::path roomy_folder()
{
    constexpr std::uintmax_t kRoom = 2ULL << 30U;
    constexpr const char* kMemory = "/dev/shm";
    struct statvfs state{};
    if (std::getenv("TMPDIR") == nullptr && access(kMemory, W_OK) == 0 && statvfs(kMemory, &state) == 0 &&
        (state.f_flag & ST_NOEXEC) == 0 && state.f_bavail * state.f_frsize >= kRoom)
        return kMemory;
    return std::filesystem::temp_directory_path();
}

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

struct KeptConnection {
    std::string url;
    Connection connection{nullptr, &PQfinish};
};

KeptConnection& kept_connection()
{
    thread_local KeptConnection kept;
    return kept;
}

/// Of an idle connection there is nothing to read but its server's farewell.
bool is_alive(const PGconn* connection)
{
    if (connection == nullptr || PQstatus(connection) != CONNECTION_OK) return false;
    pollfd waiting{PQsocket(connection), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 0;
}

std::string next_name()
{
    static std::atomic<int> count{0};
    return "test_" + std::to_string(++count);
}

} // namespace

std::string empty_database()
{
    return cluster().make(next_name(), "template1");
}

std::string migrated_database()
{
    return cluster().make(next_name(), "template_with_schema");
}

std::string run_sql(const std::string& url, const std::string& sql)
{
    KeptConnection& kept = kept_connection();
    if (kept.url != url || !is_alive(kept.connection.get())) {
        kept.connection.reset(); // before the next one takes a place
        kept = {url, Connection(PQconnectdb(url.c_str()), &PQfinish)};
        if (PQstatus(kept.connection.get()) != CONNECTION_OK)
            throw std::runtime_error(PQerrorMessage(kept.connection.get()));
    }
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(kept.connection.get(), sql.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        throw std::runtime_error(PQerrorMessage(kept.connection.get()));
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void close_connection()
{
    kept_connection().connection.reset();
}

TemporaryFolder::TemporaryFolder()
{
    std::string name = (roomy_folder() / "fathom-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
    chmod(name.c_str(), 0711); // another user's PostgreSQL may pass
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace fathom::test
