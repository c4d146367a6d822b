#include "server/app/application.hpp"

#include "core/base/process_limits.hpp"
#include "core/net/server.hpp"
#include "schema/embedded.hpp"
#include "server/api/fetch_test.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/system_api.hpp"
#include "server/app/certificate_names.hpp"
#include "server/app/heap_trim.hpp"
#include "server/app/io_threads.hpp"
#include "server/app/listener_limits.hpp"
#include "server/app/rooms.hpp"
#include "server/app/stop_signals.hpp"
#include "server/app/supervisor.hpp"
#include "server/console/console_api.hpp"
#include "server/identity/admin_token.hpp"
#include "server/identity/audit_chain.hpp"
#include "server/identity/audit_chain_store.hpp"
#include "server/identity/authority_follower.hpp"
#include "server/identity/listener_certificates.hpp"
#include "server/identity/replica_record.hpp"
#include "server/identity/session_store.hpp"
#include "server/store/migrations.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <optional>
#include <signal.h>
#include <unistd.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// The addresses that people and agents reach, taken while the process may take any port.
struct Listeners {
    net::ListeningSocket rest;
    net::ListeningSocket agents;

    static Result<Listeners> bind(const ServerSettings& settings);
};

Result<Listeners> Listeners::bind(const ServerSettings& settings)
{
    Result<net::ListeningSocket> rest = net::ListeningSocket::bind(settings.listen);
    if (!rest) return rest.error();
    Result<net::ListeningSocket> agents = net::ListeningSocket::bind(settings.agent_listen);
    if (!agents) return agents.error();
    return Listeners{std::move(*rest), std::move(*agents)};
}

constexpr std::chrono::seconds kStreamCheck{10};

/// Of each token: requests, after a rest ten seconds' worth at once; reads and changes in work; and half of the
/// connections to the database.
TokenLimits token_limits(const ServerSettings& settings)
{
    TokenLimits limits;
    const auto per_second = static_cast<double>(settings.requests_per_s_of_token);
    if (per_second > 0) limits.rate = std::make_shared<TokenRate>(10 * per_second, per_second);
    if (settings.reads_at_once_of_token > 0)
        limits.reads = std::make_shared<TokenPlaces>(settings.reads_at_once_of_token);
    if (settings.changes_at_once_of_token > 0)
        limits.changes = std::make_shared<TokenPlaces>(settings.changes_at_once_of_token);
    limits.line = std::make_shared<TokenLine>(settings.database_connections / 2);
    return limits;
}

/// The whole server. Members are in the order in which they are built; start() fills them, stop() takes them
/// down in reverse.
class Application {
  public:
    Application(const ServerSettings& settings, SupervisorLink& supervisor, Listeners listeners)
        : settings_(settings), supervisor_(&supervisor), listeners_(std::move(listeners))
    {
    }
    ~Application() { stop(); }
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    Result<void> start();
    void run_until_signal();
    void stop();

  private:
    bool is_embedded() const { return settings_.database.empty(); }
    CertificateFiles certificate_files() const;
    Result<void> open_database();
    Result<void> prepare_data();
    Result<void> take_authorities(const NetworkAuthorities& fresh);
    Result<void> build();
    Result<void> open_listeners();
    void announce() const;
    void end_if_anything_runs();

    const ServerSettings settings_;
    SupervisorLink* const supervisor_;
    Listeners listeners_;
    const ReplicaId replica_ = ReplicaId::make();
    const SystemClock clock_;
    Metrics metrics_;                                    // counted from the first moment
    std::unique_ptr<Database> database_;                 // the store's pool; the only state
    std::unique_ptr<FreeSpace> space_;                   // whether the database's disk has room
    AuthorityHolder authorities_;                        // the network's CAs, the same in all replicas
    std::unique_ptr<ListenerCertificates> certificates_; // what the listeners show
    std::unique_ptr<AuthorityFollower> follower_;        // of what other replicas do to the authorities
    std::unique_ptr<ReplicaRecord> record_;              // that this replica runs, and what it trusts
    asio::io_context io_;                                // all network work
    std::unique_ptr<IoThreads> io_threads_;              // run io_
    asio::io_context files_io_;                          // what waits for files: certificates, free space
    std::unique_ptr<IoThreads> files_thread_;            // runs files_io_
    std::unique_ptr<StopSignals> signals_;               // SIGTERM, SIGINT
    std::unique_ptr<Notifier> notifier_;                 // wake-ups between replicas
    std::unique_ptr<PeriodicTaskRunner> periodic_tasks_; // periodic work, one replica at a time
    std::unique_ptr<net::TaskGroup> tasks_;              // the rooms' background coroutines
    std::unique_ptr<IdentityService> identity_;          // who calls
    std::unique_ptr<ApiRouter> api_;                     // REST routes behind authentication
    std::unique_ptr<ApiRouter> agent_api_;               // enrolment on the agent listener
    std::unique_ptr<Rooms> rooms_;                       // the features
    std::unique_ptr<net::Server> server_;                // REST listener
    std::unique_ptr<net::Server> agent_server_;          // agent listener, mutual TLS
    net::Router router_;                                 // moved into server_ once all routes are in
    net::Router agent_router_;
    bool was_stopped_ = false;
};

Result<void> Application::start()
{
    certificates_ = std::make_unique<ListenerCertificates>(certificate_files(), clock_, metrics_);
    if (Result<void> done = certificates_->read_files(); !done) return done;
    if (Result<void> done = open_database(); !done) return done;
    if (Result<void> done = prepare_data(); !done) return done;
    if (Result<void> done = certificates_->make_own(*authorities_.get(), certificate_names(settings_)); !done)
        return done;
    if (Result<void> done = build(); !done) return done;
    return open_listeners();
}

CertificateFiles Application::certificate_files() const
{
    if (settings_.certificate_file.empty()) return {};
    return {.names = "tls_certificate " + settings_.certificate_file.string() + ", tls_key " +
                     settings_.certificate_key_file.string(),
            .read = [supervisor = supervisor_] { return supervisor->read_certificate(); }};
}

Result<void> Application::open_database()
{
    std::string url = settings_.database;
    FreeSpace::Look free_bytes; // where another server keeps the data, its own administrator watches the disk
    if (is_embedded()) {
        const Result<DatabaseAccess> embedded = supervisor_->start_database();
        if (!embedded) return embedded.error();
        url = embedded->url;
        log_info("embedded_postgres_access", {{"psql", embedded->psql_command}});
        free_bytes = [supervisor = supervisor_] { return supervisor->free_bytes(); };
    }
    space_ = std::make_unique<FreeSpace>(std::move(free_bytes), settings_.least_free_bytes, metrics_);
    database_ = std::make_unique<Database>(DatabaseOptions{.url = url, .connections = settings_.database_connections},
                                           metrics_);
    notifier_ = std::make_unique<Notifier>(url);
    return database_->check();
}

Result<void> Application::prepare_data()
{
    if (Result<void> done = migrate(*database_, schema::sql::embedded_files()); !done) return done;
    AuthorityKeyFile key_file = supervisor_->authority_key_file(settings_.authority_key_file);
    Result<NetworkAuthorities> read = load_authorities(*database_, key_file);
    if (!read) return read.error();
    if (Result<void> done = supervisor_->write_authorities(read->certificates.bundle_pem()); !done) return done;
    authorities_.set(std::move(*read));
    follower_ = std::make_unique<AuthorityFollower>(
        *database_, std::move(key_file), authorities_,
        [this](const NetworkAuthorities& fresh) { return take_authorities(fresh); });
    record_ =
        std::make_unique<ReplicaRecord>(*database_, authorities_, ReplicaSelf{replica_, host_name(), FATHOM_VERSION});
    return ensure_admin_token(*database_, supervisor_->admin_token_file(settings_.state_dir));
}

/// On the thread of the certificates.
Result<void> Application::take_authorities(const NetworkAuthorities& fresh)
{
    if (Result<void> done = supervisor_->write_authorities(fresh.certificates.bundle_pem()); !done) return done;
    return certificates_->change_authorities(fresh);
}

/// Routes, subscriptions and periodic tasks; then everything that runs, the listeners last.
Result<void> Application::build()
{
    io_threads_ = std::make_unique<IoThreads>(io_, settings_.io_threads);
    files_thread_ = std::make_unique<IoThreads>(files_io_, 1);
    signals_ = std::make_unique<StopSignals>(io_);
    periodic_tasks_ = std::make_unique<PeriodicTaskRunner>(*database_, io_.get_executor(), metrics_);
    periodic_tasks_->add("remove_old_idempotency_keys", 600s, old_key_removal());
    periodic_tasks_->add("audit_chain", 2s, chain_audit_log);
    periodic_tasks_->add("remove_expired_web_sessions", 600s, remove_expired_web_sessions);
    tasks_ = std::make_unique<net::TaskGroup>("rooms");
    identity_ = std::make_unique<IdentityService>(*database_, *notifier_, clock_, metrics_, settings_.longest_token);
    std::function<std::string()> embedded_state;
    if (is_embedded()) embedded_state = [supervisor = supervisor_] { return supervisor->database_state(); };
    space_->start(*tasks_, files_io_.get_executor());
    tasks_->keep_running(files_io_.get_executor(), "trim_heap", trim_heap);
    add_system_routes(router_, *database_, std::move(embedded_state),
                      [space = space_.get()] { return space->is_low(); });
    add_console_routes(router_, console_files());
    api_ = std::make_unique<ApiRouter>(router_, *identity_, kStreamCheck, token_limits(settings_));
    if (settings_.are_metrics_open)
        add_open_metrics_route(router_, metrics_);
    else
        add_metrics_route(*api_, metrics_);
    agent_api_ = std::make_unique<ApiRouter>(agent_router_, *identity_);
    // Probes at a center can reach the agent listener for sure.
    const net::Handler fetch_test = make_fetch_test();
    for (ApiRouter* const router : {api_.get(), agent_api_.get()})
        router->add_open(net::Method::kGet, "/fetch-test", fetch_test, /*most_body_bytes=*/0);
    rooms_ = std::make_unique<Rooms>(RoomContext{io_.get_executor(), *database_, *notifier_, *periodic_tasks_, *tasks_,
                                                 metrics_, clock_, *identity_, authorities_, settings_, *space_,
                                                 *supervisor_, replica_, *api_, router_, *agent_api_, agent_router_});
    follower_->subscribe(*notifier_);
    notifier_->start();
    periodic_tasks_->start();
    return rooms_->start();
}

Result<void> Application::open_listeners()
{
    const ListenerLimits limits = listener_limits(settings_, descriptor_limit());
    server_ = std::make_unique<net::Server>(io_, certificates_->rest(), std::move(router_), limits.rest, metrics_);
    agent_server_ =
        std::make_unique<net::Server>(io_, certificates_->agents(), std::move(agent_router_), limits.agents, metrics_);
    certificates_->show_on([this](net::TlsContext tls) { server_->set_tls(std::move(tls)); },
                           [this](net::TlsContext tls) { agent_server_->set_tls(std::move(tls)); });
    certificates_->start(*tasks_, files_io_.get_executor());
    follower_->start(*tasks_, files_io_.get_executor());
    record_->start(*tasks_, files_io_.get_executor());
    if (Result<void> done = server_->listen(std::move(listeners_.rest)); !done) return done;
    if (Result<void> done = agent_server_->listen(std::move(listeners_.agents)); !done) return done;
    announce();
    return {};
}

void Application::announce() const
{
    const auto url = [](const AddressPort& address, std::uint16_t port) {
        const bool is_v6 = address.host.find(':') != std::string::npos;
        return "https://" + (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(port);
    };
    log_info("ready", {{"replica", replica_.value}, {"version", FATHOM_VERSION}});
    std::cout << "fathomd " FATHOM_VERSION " ready: " << url(settings_.listen, server_->port()) << " (REST), "
              << url(settings_.agent_listen, agent_server_->port()) << " (agents), state in "
              << settings_.state_dir.string() << std::endl; // flushed: scripts wait for this line
}

void Application::run_until_signal()
{
    const int number = signals_->first().get();
    log_info("stopping", {{"signal", number}});
}

/// A task that still runs may use the rooms, so they cannot be destroyed. All state is in the database: the process may
/// end at any moment.
void Application::end_if_anything_runs()
{
    constexpr std::chrono::seconds kLimit{10}; // no statement runs any more, and no new one begins
    const bool has_ended = (!tasks_ || tasks_->wait(kLimit)) && (!periodic_tasks_ || periodic_tasks_->wait(kLimit)) &&
                           (!rooms_ || rooms_->wait(kLimit));
    if (has_ended) return;
    log_error("tasks_left", {});
    _exit(1); // the supervisor stops PostgreSQL
}

/// The one place with the shutdown order. Each step may use what the later ones end.
void Application::stop()
{
    // 1. What computes for long ends. No new connections; requests in flight finish; agents are disconnected.
    if (rooms_) rooms_->interrupt();
    for (const auto& server : {server_.get(), agent_server_.get()})
        if (server != nullptr) asio::co_spawn(io_, server->stop(10s), asio::use_future).get();
    // 2. No new background work; what runs is cancelled.
    if (tasks_) {
        tasks_->close();
        tasks_->wait(10s);
    }
    if (periodic_tasks_) periodic_tasks_->stop();
    // 3. No more wake-ups into the rooms; then the rooms end what they began.
    if (notifier_) notifier_->stop();
    if (rooms_) rooms_->stop();
    // 4. Running transactions end, however long their statements take, and who waited for one goes on and ends.
    if (database_) database_->stop();
    end_if_anything_runs();
    // 5. Nothing is left to run. Only now may what the coroutines point to be destroyed.
    if (io_threads_) io_threads_->stop();
    if (files_thread_) files_thread_->stop();
    server_.reset();
    agent_server_.reset();
    rooms_.reset();
    if (!was_stopped_) log_info("server_stopped");
    was_stopped_ = true;
    // 6. The database itself, when it is ours: the supervisor, once this process has ended.
}

} // namespace

int run_server(const ServerSettings& settings)
{
    signal(SIGPIPE, SIG_IGN); // a peer that went away is an error code, not the end of the process
    signal(SIGHUP, SIG_IGN);  // the end of a terminal must not stop a server that was started from it
    keep_memory_private();    // it holds keys
    start_log("fathomd", settings.log_level);
    raise_descriptor_limit();
    std::optional<Listeners> listeners;
    const auto bind = [&]() -> Result<void> {
        Result<Listeners> bound = Listeners::bind(settings);
        if (!bound) return bound.error();
        listeners.emplace(std::move(*bound));
        return {};
    };
    const auto serve = [&](SupervisorLink& supervisor) {
        limit_heaps();
        Application application(settings, supervisor, std::move(*listeners));
        if (const Result<void> started = application.start(); !started) {
            application.stop();
            std::cerr << "fathomd: " << started.error().detail << std::endl;
            return 1;
        }
        leave_signals_to_other_threads();
        application.run_until_signal();
        application.stop();
        return 0;
    };
    return run_supervised(settings, bind, serve);
}

} // namespace fathom::server
