#include "server/app/embedded_postgres.hpp"

#include "core/base/log.hpp"
#include "server/app/postgres_access.hpp"
#include "server/app/postgres_binaries.hpp"
#include "server/app/postgres_folder.hpp"

#include <cerrno>
#include <condition_variable>
#include <fcntl.h>
#include <future>
#include <libpq-fe.h>
#include <mutex>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr auto kInitLimit = 30min; // initdb takes a second, on a slow disk some minutes
constexpr auto kFirstPause = 100ms;
constexpr auto kMaxPause = 10000ms;
constexpr auto kCalmAfter = 60s;      // a server that ran so long starts the back-off anew
constexpr int kUnknownEnd = 255 << 8; // "exit code 255", as waitpid tells it

// Durable by default (fsync, synchronous_commit and full_page_writes are on unless someone changed the
// cluster's files; here they are fixed), tuned for short statements on a machine shared with other work.
constexpr const char* kSettings[] = {"listen_addresses=",
                                     "port=5432",
                                     "max_connections=100",
                                     "shared_buffers=128MB",
                                     "fsync=on",
                                     "synchronous_commit=on",
                                     "full_page_writes=on",
                                     "wal_level=replica", // so that a base backup works
                                     "wal_compression=on",
                                     "max_wal_size=2GB",
                                     "min_wal_size=256MB",
                                     "checkpoint_timeout=15min",
                                     "jit=off", // costs more than it gives for statements of milliseconds
                                     "timezone=UTC",
                                     "log_timezone=UTC",
                                     "logging_collector=off", // standard error is the log
                                     "log_destination=stderr",
                                     "log_line_prefix=%m [%p] "};

Result<void> make_cluster(const PostgresFolder& folder, const PostgresBinaries& binaries, bool flush)
{
    log_info("embedded_postgres_create", {{"folder", folder.data().string()}, {"version", binaries.major_version}});
    // Renamed when complete: a crash in between must not leave half a cluster under the final name.
    if (Result<void> removed = remove_unfinished_cluster(folder); !removed) return removed;
    ChildOptions initdb;
    initdb.arguments = {(binaries.folder / "initdb").string(), "-D", (folder.child_root / "data.new").string(),
                        "--username=fathom", "--encoding=UTF8", "--locale=C",
                        // These rules would count for a server that somebody else starts: ours has those of
                        // write_access_rules().
                        "--auth-local=reject", "--auth-host=reject"};
    if (!flush) initdb.arguments.emplace_back("--no-sync");
    initdb.user = folder.user;
    initdb.inherited = folder.descriptor;
    initdb.signal_on_parent_death = SIGTERM;
    if (const Result<std::string> made = run_child(std::move(initdb), kInitLimit); !made) return made.error();
    return name_new_cluster(folder);
}

} // namespace

struct EmbeddedPostgres::State {
    State(Options start_options, PostgresFolder own_folder, PostgresBinaries programs)
        : options(std::move(start_options)), folder(std::move(own_folder)), binaries(std::move(programs)),
          url(connection_to(folder, PostgresRole::kOwner, "fathom"))
    {
    }

    void supervise(std::promise<Result<void>> first_start);
    Result<void> bring_up();
    Result<void> launch();
    Result<void> wait_until_ready();
    bool has_exited(int flags);
    int reap();
    bool pause(std::chrono::milliseconds duration);
    void describe(std::string text);
    bool is_stopping() const
    {
        const std::scoped_lock lock(mutex);
        return stopping;
    }

    const Options options;
    const PostgresFolder folder;
    const PostgresBinaries binaries;
    const std::string url;

    mutable std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    pid_t process = 0; ///< reaped only under the mutex, so that no signal goes to a number that was given anew
    std::string description = "starting";

    /// Forks the server: PR_SET_PDEATHSIG looks at the thread that forked, so it must live as long as the server.
    std::thread supervisor;
};

EmbeddedPostgres::EmbeddedPostgres(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<EmbeddedPostgres>> EmbeddedPostgres::start(Options options)
{
    Result<PostgresFolder> folder = prepare_postgres_folder(options.state_dir, options.client_group);
    if (!folder) return folder.error();
    const Result<std::optional<int>> version = data_version(*folder);
    if (!version) return version.error();
    const auto places = options.search_folders.empty() ? postgres_search_folders() : options.search_folders;
    Result<PostgresBinaries> binaries = find_postgres(places, *version);
    if (!binaries) {
        remove_socket_folder(*folder);
        return binaries.error();
    }
    auto state = std::make_unique<State>(std::move(options), std::move(*folder), std::move(*binaries));
    std::promise<Result<void>> promise;
    std::future<Result<void>> started = promise.get_future();
    state->supervisor =
        std::thread([s = state.get(), p = std::move(promise)]() mutable { s->supervise(std::move(p)); });
    std::unique_ptr<EmbeddedPostgres> server(new EmbeddedPostgres(std::move(state)));
    if (const Result<void> outcome = started.get(); !outcome) return outcome.error(); // the destructor joins
    return server;
}

EmbeddedPostgres::~EmbeddedPostgres()
{
    stop();
}

const std::string& EmbeddedPostgres::url() const
{
    return state_->url;
}

std::string EmbeddedPostgres::psql_command() const
{
    const std::optional<UnixUser>& user = state_->folder.user;
    return (user ? "sudo " : "") + std::string("psql -h '") + state_->folder.socket.string() + "' -U fathomd fathom";
}

std::string EmbeddedPostgres::superuser_url() const
{
    return connection_to(state_->folder, PostgresRole::kSuperuser, "fathom");
}

std::string EmbeddedPostgres::state() const
{
    const std::scoped_lock lock(state_->mutex);
    return state_->description;
}

pid_t EmbeddedPostgres::process_id() const
{
    const std::scoped_lock lock(state_->mutex);
    return state_->process;
}

void EmbeddedPostgres::stop()
{
    if (!state_->supervisor.joinable()) return;
    {
        std::unique_lock lock(state_->mutex);
        state_->stopping = true;
        state_->changed.notify_all();
        // SIGINT: no new work, running work is rolled back, clean. SIGQUIT: at once; the next start recovers.
        const auto gone = [this] { return state_->process == 0; };
        for (const auto& [number, limit] : {std::pair(SIGINT, 30s), std::pair(SIGQUIT, 10s), std::pair(SIGKILL, 10s)}) {
            if (gone()) break;
            kill(state_->process, number);
            if (state_->changed.wait_for(lock, limit, gone)) break;
            log_warning("embedded_postgres_slow_stop", {{"signal", number}});
        }
    }
    state_->supervisor.join();
    remove_socket_folder(state_->folder);
    log_info("embedded_postgres_stopped");
}

/// The supervisor thread: starts the server, and again when it ends, until stop().
void EmbeddedPostgres::State::supervise(std::promise<Result<void>> first_start)
{
    const Result<void> first = bring_up();
    first_start.set_value(first);
    // Whoever failed to start gets no second try: start() reports it.
    if (!first) return;
    std::chrono::milliseconds wait = kFirstPause;
    for (;;) {
        const SteadyTime began = std::chrono::steady_clock::now();
        while (!has_exited(0)) {
        }
        const int status = reap();
        if (is_stopping()) return;
        log_error("embedded_postgres_ended", {{"status", describe_exit(status)}, {"log", folder.log().string()}});
        describe("ended with " + describe_exit(status) + "; starting again");
        if (std::chrono::steady_clock::now() - began > kCalmAfter) wait = kFirstPause;
        for (;;) {
            if (!pause(wait)) return;
            wait = std::min<std::chrono::milliseconds>(wait * 2, kMaxPause);
            const Result<void> again = bring_up();
            if (again) break;
            log_error("embedded_postgres_not_started", {{"error", again.error().detail}});
            describe(again.error().detail);
        }
    }
}

/// One start, up to the moment when the server answers. Leaves no process behind when it fails.
Result<void> EmbeddedPostgres::State::bring_up()
{
    if (Result<void> alone = stop_leftovers(folder); !alone) return alone;
    const Result<std::optional<int>> version = data_version(folder);
    if (!version) return version.error();
    if (!*version) {
        if (Result<void> made = make_cluster(folder, binaries, options.flush_new_cluster); !made) return made;
    }
    if (Result<void> written = write_access_rules(folder); !written) return written;
    if (Result<void> launched = launch(); !launched) return launched;
    Result<void> ready = wait_until_ready();
    if (ready) ready = prepare_database(folder);
    if (ready) {
        describe("ok");
        log_info("embedded_postgres_ready", {{"pid", process},
                                             {"version", binaries.major_version},
                                             {"user", folder.user ? folder.user->name : "(ours)"},
                                             {"socket", folder.socket.string()}});
        return ready;
    }
    {
        const std::scoped_lock lock(mutex);
        if (process != 0) kill(process, SIGQUIT);
    }
    if (process != 0) {
        while (!has_exited(0)) {
        }
        reap();
    }
    return ready;
}

Result<void> EmbeddedPostgres::State::launch()
{
    // Opened by us, so that the log is there even when the server cannot reach its folder.
    const Result<OpenFile> log_file = open_postgres_log(folder);
    if (!log_file) return log_file.error();
    ChildOptions server;
    server.arguments = {(binaries.folder / "postgres").string(), "-D", (folder.child_root / "data").string()};
    const auto set = [&](const std::string& setting) {
        server.arguments.emplace_back("-c");
        server.arguments.push_back(setting);
    };
    for (const char* const setting : kSettings)
        set(setting);
    // After a crash the whole data folder is flushed first: one call instead of one for each of a thousand files.
    if (binaries.major_version >= 14) set("recovery_init_sync_method=syncfs");
    for (const std::string& setting : access_settings(folder))
        set(setting);
    set("unix_socket_directories=" + quoted_item(folder.socket.string()));
    // Those who may connect are those who may enter its folder.
    set(options.client_group ? "unix_socket_permissions=0777" : "unix_socket_permissions=0700");
    for (const std::string& setting : options.extra_settings)
        set(setting);
    server.user = folder.user;
    server.output = log_file->number();
    server.inherited = folder.descriptor;
    server.signal_on_parent_death = SIGINT;
    const std::scoped_lock lock(mutex);
    if (stopping) return Error{Errc::kUnavailable, "stopping"};
    const Result<pid_t> child = start_child(server);
    if (!child) return child.error();
    process = *child;
    return {};
}

Result<void> EmbeddedPostgres::State::wait_until_ready()
{
    const std::string target = connection_to(folder, PostgresRole::kSuperuser, "postgres") + " connect_timeout=5";
    const SteadyTime limit = std::chrono::steady_clock::now() + options.start_limit;
    std::chrono::milliseconds wait = 10ms;
    while (PQping(target.c_str()) != PQPING_OK) {
        if (has_exited(WNOHANG)) {
            const int status = reap();
            return Error{Errc::kUnavailable, "the embedded PostgreSQL ended at its start with " +
                                                 describe_exit(status) + "; the end of " + folder.log().string() +
                                                 ": " + log_tail(folder)};
        }
        if (std::chrono::steady_clock::now() > limit)
            return Error{Errc::kUnavailable, "the embedded PostgreSQL did not answer in time; the end of " +
                                                 folder.log().string() + ": " + log_tail(folder)};
        if (!pause(wait)) return Error{Errc::kUnavailable, "stopping"};
        wait = std::min<std::chrono::milliseconds>(wait * 2, 200ms); // each try leaves a line in the log
    }
    return {};
}

/// Whether the server has ended; it is not reaped. Waits for it unless `flags` has WNOHANG.
bool EmbeddedPostgres::State::has_exited(int flags)
{
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT | flags) == 0) return info.si_pid != 0;
    return errno == ECHILD; // somebody else reaped it: it has ended, and nobody can tell how
}

int EmbeddedPostgres::State::reap()
{
    const std::scoped_lock lock(mutex);
    int status = kUnknownEnd;
    waitpid(process, &status, 0);
    process = 0;
    changed.notify_all();
    return status;
}

/// False when stop() was called meanwhile.
bool EmbeddedPostgres::State::pause(std::chrono::milliseconds duration)
{
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, duration, [this] { return stopping; });
}

void EmbeddedPostgres::State::describe(std::string text)
{
    const std::scoped_lock lock(mutex);
    description = std::move(text);
}

} // namespace fathom::server
