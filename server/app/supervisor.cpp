#include "server/app/supervisor.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/own_user.hpp"
#include "core/base/packet_socket.hpp"
#include "core/base/process_answer.hpp"
#include "core/base/wait_for_child.hpp"
#include "server/app/background_process.hpp"
#include "server/app/backup/moved_database.hpp"
#include "server/app/embedded_postgres.hpp"
#include "server/app/state_lock.hpp"
#include "server/app/stop_requests.hpp"
#include "server/app/verifier_program.hpp"
#include "server/identity/authority.hpp"
#include "server/retention/free_space.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>
#include <iostream>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr unsigned kAuthorityMode = 0644;
constexpr unsigned kAdminTokenMode = 0600;
constexpr std::size_t kMaxNamedFileBytes = 30UL << 10U; // so that a chain and a key fit a message

Result<std::unique_ptr<EmbeddedPostgres>> start_unless_moved(const std::filesystem::path& state_dir,
                                                             std::optional<gid_t> client_group)
{
    if (Result<void> usable = refuse_moved_database(state_dir); !usable) return usable.error();
    return EmbeddedPostgres::start({.state_dir = state_dir, .client_group = client_group});
}

/// Of two limits of poll() the one that ends first; -1 is none.
int earlier_ms(int first, int second)
{
    if (first < 0 || second < 0) return std::max(first, second);
    return std::min(first, second);
}

int wait_for(pid_t process)
{
    int status = 0;
    reap_child(process, status);
    return status;
}

/// Of those that the settings name. A pipe could keep the supervisor waiting for ever.
Result<std::string> read_plain_file(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        return Error{Errc::kInvalid, path.string() + " is no plain file"};
    return read_file(path, kMaxNamedFileBytes);
}

Result<std::string> read_authority_key(const std::filesystem::path& path)
{
    struct stat facts{};
    if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & S_IROTH) != 0)
        log_warning("authority_key_readable_by_all", {{"file", path.string()}});
    return read_plain_file(path);
}

/// The supervisor's process after the fork: one thread that waits for the server's requests, for signals and for ends.
class Supervisor {
  public:
    Supervisor(const ServerSettings& settings, std::optional<gid_t> server_group, PacketSockets ours, pid_t server,
               OpenFile signals)
        : settings_(&settings), server_group_(server_group), requests_(std::move(ours.first)),
          probes_(std::move(ours.second)), server_(server), server_end_(open_child_end(server)),
          stops_(std::move(signals)), database_started_(eventfd(0, EFD_CLOEXEC))
    {
    }

    /// Until the server has ended, and what it used has.
    int run();

  private:
    int poll_limit_ms() const;
    void take_signals();
    void serve_request();
    Result<std::string> answer(SupervisorRequest request, const std::string& text);
    Result<std::string> read_certificate() const;
    void start_database();
    void tell_database();
    void serve_probe_request();
    Result<void> start_probe(const Packet& request);
    void end_probe();
    void tell_probe_end(const Result<void>& end);
    int finish();

    const ServerSettings* settings_;
    std::optional<gid_t> server_group_; ///< that may enter the database's socket; none: the server is our own user
    OpenFile requests_;
    OpenFile probes_;
    pid_t server_;
    OpenFile server_end_; ///< none is open where the system gives none: then the server is looked at; so is a probe
    StopRequests stops_;
    bool is_killed_ = false;    ///< the server, since it was to stop at once
    OpenFile database_started_; ///< eventfd
    std::future<Result<std::unique_ptr<EmbeddedPostgres>>> database_start_;
    std::unique_ptr<EmbeddedPostgres> database_;
    std::optional<VerifierProgram> verifier_; ///< once it was asked for
    pid_t probe_ = 0;                         ///< 0: none runs
    OpenFile probe_end_;
    std::optional<BackgroundProcess> probe_pace_; ///< of the probe that runs in the background
};

int Supervisor::run()
{
    for (;;) {
        std::array<pollfd, 6> waits{{{server_end_.number(), POLLIN, 0},
                                     {stops_.number(), POLLIN, 0},
                                     {requests_.number(), POLLIN, 0},
                                     {probes_.number(), POLLIN, 0},
                                     {database_started_.number(), POLLIN, 0},
                                     {probe_end_.number(), POLLIN, 0}}}; // -1: nothing to wait for
        if (poll(waits.data(), waits.size(), poll_limit_ms()) < 0 && errno != EINTR) return finish();
        // After the end was seen below there is nothing to look at; before it the process is there, if only as a
        // zombie.
        if (probe_pace_) probe_pace_->look();
        if (has_child_ended(server_)) return finish();
        take_signals();
        if (waits[2].revents != 0) serve_request();
        if (waits[3].revents != 0) serve_probe_request();
        if (waits[4].revents != 0) tell_database();
        if (probe_ > 0 && has_child_ended(probe_)) end_probe();
    }
}

void Supervisor::end_probe()
{
    probe_pace_.reset();
    const int status = wait_for(std::exchange(probe_, 0));
    probe_end_ = OpenFile();
    tell_probe_end(status == 0 ? Result<void>() : Error{Errc::kUnavailable, "it ended with " + describe_exit(status)});
}

int Supervisor::poll_limit_ms() const
{
    int limit_ms = earlier_ms(child_poll_limit_ms(server_end_), stops_.poll_limit_ms(std::chrono::steady_clock::now()));
    if (probe_ > 0) limit_ms = earlier_ms(limit_ms, child_poll_limit_ms(probe_end_));
    if (probe_pace_) limit_ms = earlier_ms(limit_ms, static_cast<int>(BackgroundProcess::kPeriod.count()));
    return limit_ms;
}

void Supervisor::take_signals()
{
    const std::optional<RequestedStop> stop = stops_.take(std::chrono::steady_clock::now());
    if (!stop) return;
    if (stop->is_at_once) {
        log_warning("stopping_at_once", {{"signal", stop->signal}});
        is_killed_ = true;
    }
    kill(server_, stop->is_at_once ? SIGKILL : stop->signal);
}

void Supervisor::serve_request()
{
    const std::optional<Packet> request = receive_packet(requests_.number());
    if (!request || request->text.empty()) {
        requests_ = OpenFile(); // it is ending
        return;
    }
    const auto kind = static_cast<SupervisorRequest>(request->text[0]);
    if (kind == SupervisorRequest::kStartDatabase) return start_database(); // answered when it has started
    const std::string text = encode_answer(answer(kind, request->text.substr(1)));
    static_cast<void>(send_packet(requests_.number(), text)); // where nobody hears it, its end is told next
}

Result<std::string> Supervisor::answer(SupervisorRequest request, const std::string& text)
{
    const auto written = [&](const char* name, unsigned mode) -> Result<std::string> {
        if (Result<void> done = write_file(settings_->state_dir / name, text, mode); !done) return done.error();
        return std::string();
    };
    switch (request) {
    case SupervisorRequest::kDatabaseState:
        return database_ ? database_->state() : std::string("not started");
    case SupervisorRequest::kFreeBytes: {
        const std::optional<std::uint64_t> bytes = free_bytes_of(settings_->state_dir / "postgres");
        return bytes ? std::to_string(*bytes) : std::string();
    }
    case SupervisorRequest::kReadAdminToken:
        return read_file(settings_->state_dir / kAdminTokenFile, 4096);
    case SupervisorRequest::kWriteAdminToken:
        return written(kAdminTokenFile, kAdminTokenMode);
    case SupervisorRequest::kWriteAuthorities:
        return written("ca.pem", kAuthorityMode);
    case SupervisorRequest::kReadAuthorityKey:
        return read_authority_key(settings_->authority_key_file);
    case SupervisorRequest::kMakeAuthorityKey: {
        Result<std::string> key = read_authority_key(settings_->authority_key_file);
        const bool is_missing = !key && key.error().code == Errc::kNotFound;
        return is_missing ? make_authority_key_file(settings_->authority_key_file) : key;
    }
    case SupervisorRequest::kReadCertificate:
        return read_certificate();
    case SupervisorRequest::kFindVerifier:
        if (!verifier_) verifier_ = find_verifier(settings_->verify_program, settings_->verifies_in_background);
        return std::string(verifier_->path.empty() ? "" : "yes");
    case SupervisorRequest::kStartDatabase:
        break; // serve_request()
    }
    return Error{Errc::kInvalid, "fathomd's supervisor does not know the request"};
}

Result<std::string> Supervisor::read_certificate() const
{
    Result<std::string> certificate = read_plain_file(settings_->certificate_file);
    if (!certificate) return certificate;
    Result<std::string> key = read_plain_file(settings_->certificate_key_file);
    if (!key) return key;
    return *certificate + '\0' + *key;
}

/// On a thread of its own: signals and the server's end are heard meanwhile.
void Supervisor::start_database()
{
    if (database_ || database_start_.valid()) return; // asked twice: the first answer will come
    database_start_ = std::async(std::launch::async, [this] {
        auto started = start_unless_moved(settings_->state_dir, server_group_);
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t size = write(database_started_.number(), &one, sizeof one);
        return started;
    });
}

void Supervisor::tell_database()
{
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = read(database_started_.number(), &count, sizeof count);
    Result<std::unique_ptr<EmbeddedPostgres>> started = database_start_.get();
    Result<std::string> access = started ? Result<std::string>((*started)->url() + '\0' + (*started)->psql_command())
                                         : Result<std::string>(started.error());
    if (started) database_ = std::move(*started);
    static_cast<void>(send_packet(requests_.number(), encode_answer(access)));
}

void Supervisor::serve_probe_request()
{
    const std::optional<Packet> request = receive_packet(probes_.number());
    if (!request || request->text.size() != 1) {
        probes_ = OpenFile();
        return;
    }
    if (request->text[0] == static_cast<char>(VerifyingRequest::kEnd)) {
        if (probe_ > 0) kill(probe_, SIGKILL);
        return;
    }
    if (const Result<void> started = start_probe(*request); !started) tell_probe_end(started);
}

Result<void> Supervisor::start_probe(const Packet& request)
{
    const bool is_known = request.text[0] == static_cast<char>(VerifyingRequest::kRun) && request.files.size() == 2;
    if (!is_known || probe_ > 0 || !verifier_ || verifier_->path.empty())
        return Error{Errc::kInvalid, "fathomd's supervisor does not know the request"};
    const Result<pid_t> started = start_verifier(*verifier_, request.files[0].number(), request.files[1].number());
    if (!started) return started.error();
    probe_ = *started;
    probe_end_ = open_child_end(probe_);
    if (verifier_->is_background) probe_pace_.emplace(probe_);
    return {};
}

void Supervisor::tell_probe_end(const Result<void>& end)
{
    const std::string text = encode_answer(end ? Result<std::string>(std::string()) : end.error());
    static_cast<void>(send_packet(probes_.number(), text));
}

int Supervisor::finish()
{
    const int status = wait_for(server_);
    if (probe_ > 0) {
        kill(probe_, SIGKILL);
        wait_for(probe_);
    }
    const bool is_by_signal = WIFSIGNALED(status) && !is_killed_;
    if (is_by_signal) log_error("server_ended", {{"status", describe_exit(status)}});
    const int ended = is_by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    const int code = is_killed_ ? 1 : ended;
    // PostgreSQL is still starting, and nobody waits for it: it ends with us.
    if (database_start_.valid()) _exit(code);
    database_.reset();
    log_info("stopped");
    return code;
}

/// Whom the server runs as; empty: as we do.
std::optional<UnixUser> find_server_user()
{
    if (geteuid() != 0) return std::nullopt;
    Result<UnixUser> user = find_own_user("fathomd");
    if (user) return std::move(*user);
    log_warning("server_keeps_root", {{"error", user.error().detail}});
    return std::nullopt;
}

int run_server_process(const std::optional<UnixUser>& user, pid_t supervisor, PacketSockets theirs,
                       const std::function<Result<void>()>& prepare, const ServerMain& serve)
{
    prctl(PR_SET_NAME, "fathomd-server"); // for ps, top and pgrep
    setsid();                             // a Ctrl-C at the terminal reaches the supervisor, which passes it on, once
    Result<void> ready = prepare();
    if (ready) ready = give_up_rights(user);
    if (ready) ready = end_with_parent(supervisor);
    if (!ready) {
        std::cerr << "fathomd: " << ready.error().detail << std::endl;
        return 1;
    }
    SupervisorLink link(std::move(theirs.first), std::move(theirs.second));
    return serve(link);
}

} // namespace

int run_supervised(const ServerSettings& settings, const std::function<Result<void>()>& prepare,
                   const ServerMain& serve)
{
    const auto refuse = [](const Error& error) {
        std::cerr << "fathomd: " << error.detail << std::endl;
        return 1;
    };
    const Result<StateLock> lock = StateLock::take(settings.state_dir);
    if (!lock) return refuse(lock.error());
    Result<PacketSockets> requests = make_packet_sockets();
    Result<PacketSockets> probes = make_packet_sockets();
    if (!requests || !probes) return refuse(requests ? probes.error() : requests.error());
    const std::optional<UnixUser> user = find_server_user();

    sigset_t passed;
    sigset_t before;
    sigemptyset(&passed);
    sigaddset(&passed, SIGTERM);
    sigaddset(&passed, SIGINT);
    sigprocmask(SIG_BLOCK, &passed, &before);
    OpenFile signals(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
    const pid_t supervisor = getpid();
    const pid_t server = fork();
    if (server < 0 || signals.number() < 0)
        return refuse({Errc::kUnavailable, "cannot start fathomd's second process"});
    if (server == 0) {
        signals = OpenFile();
        sigprocmask(SIG_SETMASK, &before, nullptr);
        requests->first = OpenFile();
        probes->first = OpenFile();
        // Not return: what is held here is the supervisor's to take down.
        std::exit(run_server_process(user, supervisor, {std::move(requests->second), std::move(probes->second)},
                                     prepare, serve)); // NOLINT(concurrency-mt-unsafe): all its threads have ended
    }
    requests->second = OpenFile();
    probes->second = OpenFile();
    const std::optional<gid_t> group = user ? std::optional(user->gid) : std::nullopt;
    return Supervisor(settings, group, {std::move(requests->first), std::move(probes->first)}, server,
                      std::move(signals))
        .run();
}

} // namespace fathom::server
