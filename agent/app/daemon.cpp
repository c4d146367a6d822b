#include "agent/app/daemon.hpp"

#include "agent/app/job_executor.hpp"
#include "agent/app/sub_unit_request.hpp"
#include "agent/catalog/host_id.hpp"
#include "core/base/file.hpp"

#include <boost/asio/post.hpp>

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

namespace asio = boost::asio;

/// The pace of what has no event of its own.
constexpr std::chrono::milliseconds kTick{100};
/// Between two looks at what the executor tells: a program that prints without end shall not keep the agent busy.
constexpr std::chrono::milliseconds kChangePause{2};
constexpr std::chrono::minutes kRenewalInterval{10};
constexpr std::chrono::seconds kFirstRenewalLook{2};
constexpr std::chrono::seconds kRequestInterval{1};
constexpr std::chrono::seconds kStopLimit{5};
/// Between two reports of what the jobs have of the GPUs' memory.
constexpr std::chrono::seconds kGpuMemoryInterval{5};
/// Between two looks at what the balance loops have done.
constexpr std::chrono::milliseconds kBalanceInterval{500};

/// Where probes of the network fetch by default: from the metascheduler. Empty when its address is not known.
std::string fetch_url(const Enrolment& enrolment)
{
    return enrolment.server.empty() ? "" : "https://" + enrolment.server + "/api/v1/fetch-test";
}

} // namespace

Daemon::Daemon(AgentConfig config, RemoteExecutor& executor, GpuMemoryPlace gpu_memory)
    : config_(std::move(config)), executor_(executor), gpu_memory_place_(std::move(gpu_memory))
{
}

Result<void> Daemon::prepare()
{
    const Result<Enrolment> enrolment = files_.load();
    if (!enrolment) return enrolment.error();
    fetch_url_ = fetch_url(*enrolment);
    resources_.load();
    library_.load();
    Result<CenterOffer> offer =
        survey_machines(as_probes_run(config_), executor_.facts(), survey_order(CutRule::kMustFit), machine_notes_);
    if (!offer) return offer.error();
    if (Result<Hardware> seen = look_at_machines(config_, machine_notes_)) hardware_ = std::move(*seen);
    Result<Spool> spool = Spool::open("spool.db");
    if (!spool) return spool.error();
    spool_.emplace(std::move(*spool));
    std::function<std::string(const std::string&)> gpu_proof;
    if (!gpu_memory_place_.folder.empty()) {
        Result<gpu::JobNames> names = gpu::JobNames::load("gpu-memory-key");
        if (!names) return names.error();
        gpu_memory_place_.names = *names;
        gpu_proof = [names = *names](const std::string& job) { return std::to_string(names.proof(job)); };
    }
    book_ = std::make_unique<AttemptBook>(*spool_, executor_, clock_, std::move(offer->plan),
                                          BookOptions{.environment = config_.tables.environment,
                                                      .keep_finished = config_.keep_finished,
                                                      .center = enrolment->center_name,
                                                      .fetch_url = fetch_url_,
                                                      .fetch_ca_pem = enrolment->authority_pem,
                                                      .operator_trust = config_.operator_trust,
                                                      .library = library_.text(),
                                                      .gpu_proof = std::move(gpu_proof)});
    sub_units_ = std::make_unique<SubUnitKeeper>(work_.get_executor(), survey_.get_executor(),
                                                 std::filesystem::path(kFolder) / "sub-units.json");
    if (Result<void> loaded = sub_units_->load(config_.tables.sub_units); !loaded) return loaded;
    begin_conversation(std::move(*offer));
    connector_ = std::make_shared<Connector>(files_, *conversation_, work_.get_executor());
    start_memory_manager();
    follow_balance();
    log_info(
        "agent_ready",
        {{"center", enrolment->center_name}, {"center_id", enrolment->center_id}, {"facts", executor_.facts().dump()}});
    return book_->load();
}

void Daemon::begin_conversation(CenterOffer offer)
{
    machine_catalog_ = std::move(offer.catalog);
    Catalog catalog = sub_units_->limited(machine_catalog_);
    last_catalog_ = to_json(catalog);
    conversation_ = std::make_unique<Conversation>(*spool_, *book_, std::move(catalog));
    sub_units_->serve(*book_, *conversation_, [this] { report_offer(); });
    conversation_->tell_resources(resources_.applied(std::move(offer.differences), config_.remote_resources));
    conversation_->on_resource_order = [this](const ResourceOrder& order) { take_resource_order(order); };
    conversation_->holds_library(library_.digest());
    conversation_->on_match_library = [this](const link::MatchLibrary& library) { take_library(library); };
    conversation_->on_certificate = [this](const std::string& pem) { store_certificate(pem); };
    // A batch system's jobs run on its nodes.
    if (!config_.uses_slurm && !config_.uses_kubernetes) conversation_->runs_on(host_id(boot_id()));
    kept_files_ = std::make_unique<KeptFileReader>(executor_.kept_file_read(), [this](link::KeptFilePiece piece) {
        asio::post(work_,
                   [this, piece = std::move(piece)]() mutable { conversation_->tell_kept_file(std::move(piece)); });
    });
    conversation_->on_kept_file_query = [this](const link::KeptFileQuery& query) {
        kept_files_->ask(query, std::chrono::steady_clock::now());
    };
    conversation_->on_turn_pairs = [this](const std::vector<GpuPair>& pairs) {
        if (gpu_memory_) gpu_memory_->know_pairs(pairs);
    };
    conversation_->trusts(files_.trusted_authorities());
    conversation_->on_authorities = [this](const link::TrustedAuthorities& trusted) {
        return take_authorities(trusted);
    };
}

void Daemon::run()
{
    tasks_.keep_running(network_.get_executor(), "connector", [this] { return connector_->run(); });
    const auto network_work = asio::make_work_guard(network_);
    std::thread network_thread([this] { network_.run(); });
    next_renewal_look_ = std::chrono::steady_clock::now() + kFirstRenewalLook;
    wait_for_signal();
    tick();
    if (const int changes = executor_.change_descriptor(); changes >= 0) changes_.assign(changes);
    wait_for_change();
    work_.run();

    // Stop: no new connection, then the present one, then the threads. Jobs are not touched.
    tasks_.close();
    connector_->reconnect("the agent stops");
    if (!tasks_.wait(kStopLimit)) log_warning("stop_incomplete", {{"part", "connector"}});
    network_.stop();
    network_thread.join();
    machine_stop_.request_stop();
    survey_.join();
    // What was posted meanwhile holds parts of the connection, which must not outlive the network context.
    timer_.cancel();
    signals_.cancel();
    if (changes_.is_open()) changes_.release(); // it is the executor's
    change_timer_.cancel();
    work_.restart();
    work_.poll();
    kept_files_.reset(); // not before: what was posted may ask for files
    conversation_->disconnected();
    if (const Result<void> stored = spool_->commit(); !stored)
        log_warning("spool_failed", {{"reason", stored.error().detail}}); // acknowledgements, which come again
    log_info("agent_stopped", {{"running_attempts", book_->running_count()}});
}

void Daemon::tick()
{
    const SteadyTime now = std::chrono::steady_clock::now();
    conversation_->tick(now);
    kept_files_->refuse_late(now);
    renew_certificate(now);
    take_probe_request(now);
    take_sub_unit_request(now);
    sub_units_->tick();
    report_gpu_memory(now);
    report_balance(now);
    watch_hardware(now);
    measure_machine(now);
    timer_.expires_after(kTick);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) tick();
    });
}

/// Then the next one, after a pause.
void Daemon::wait_for_change()
{
    if (!changes_.is_open()) return;
    changes_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
        if (error) return;
        conversation_->tick(std::chrono::steady_clock::now());
        change_timer_.expires_after(kChangePause);
        change_timer_.async_wait([this](const boost::system::error_code& stopped) {
            if (!stopped) wait_for_change();
        });
    });
}

void Daemon::renew_certificate(SteadyTime now)
{
    if (now < next_renewal_look_) return;
    next_renewal_look_ = now + kFirstRenewalLook;
    if (!conversation_->is_welcome()) return;
    next_renewal_look_ = now + kRenewalInterval;
    const Result<Enrolment> enrolment = files_.load();
    if (!enrolment) return;
    const Result<net::CertificateFacts> facts = net::read_certificate(enrolment->credential.certificate_pem);
    if (!facts || !(is_renewal_wanted_ || is_renewal_due(*facts, clock_.now()))) return;
    const Result<std::string> request = net::make_signing_request(enrolment->credential.key_pem, enrolment->center_id);
    if (request && conversation_->request_certificate(*request))
        log_info("certificate_renewal_asked", {{"not_after", format_rfc3339(facts->not_after)}});
}

void Daemon::take_probe_request(SteadyTime now)
{
    if (now < next_request_look_) return;
    next_request_look_ = now + kRequestInterval;
    const ProbeRequestFile file(kFolder);
    const std::optional<std::string> reason = file.find();
    if (!reason) return;
    if (const Result<void> asked = conversation_->request_probes(*reason); !asked) {
        log_warning("probe_request_not_stored", {{"reason", asked.error().detail}});
        return;
    }
    // After it is in the spool: a crash in between asks twice, which does no harm.
    file.remove();
    log_info("probes_requested", {{"reason", *reason}});
}

void Daemon::take_sub_unit_request(SteadyTime now)
{
    if (now < next_sub_unit_look_) return;
    next_sub_unit_look_ = now + kRequestInterval;
    const SubUnitRequestFile file(kFolder);
    const std::optional<Result<link::SubUnitRequest>> request = file.find();
    if (!request) return;
    Result<void> asked = *request ? Result<void>() : Result<void>(request->error());
    if (asked && !sub_units_->knows((*request)->kind))
        asked = Error{Errc::kInvalid, "no table [[sub_units]] has kind " + (*request)->kind};
    if (asked) asked = conversation_->request_sub_units(**request);
    if (!asked) log_warning("sub_unit_request_not_stored", {{"reason", describe(asked.error())}});
    if (!asked && asked.error().code == Errc::kUnavailable) return; // the next look tries again
    file.remove();
    if (asked)
        log_info("sub_units_requested",
                 {{"kind", (*request)->kind}, {"action", (*request)->action}, {"count", (*request)->count}});
}

void Daemon::start_memory_manager()
{
    if (gpu_memory_place_.folder.empty()) return;
    Result<std::unique_ptr<gpu::MemoryService>> started =
        start_gpu_memory(config_.tables.gpu_memory, std::move(gpu_memory_place_));
    if (started)
        gpu_memory_ = std::move(*started);
    else
        log_error("gpu_memory_not_started",
                  {{"reason", describe(started.error())}, {"effect", "jobs with GPUs share nothing"}});
}

void Daemon::report_gpu_memory(SteadyTime now)
{
    if (!gpu_memory_ || now < next_gpu_memory_look_) return;
    next_gpu_memory_look_ = now + kGpuMemoryInterval;
    GpuMemoryReport report = gpu_memory_->report();
    book_->know_gpus(report);
    conversation_->tell_gpu_memory(std::move(report));
}

void Daemon::follow_balance()
{
    if (!config_.tables.balance.enabled) return;
    OpenFile folder(::open(kFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    balance_.emplace(std::move(folder), ::geteuid());
}

void Daemon::report_balance(SteadyTime now)
{
    if (!balance_ || now < next_balance_look_) return;
    next_balance_look_ = now + kBalanceInterval;
    conversation_->tell_balance(balance_->next());
}

void Daemon::take_library(const link::MatchLibrary& library)
{
    if (const Result<void> taken = library_.take(library); !taken) {
        // The next greeting says so, and is answered by it again.
        log_error("match_library_not_stored", {{"reason", describe(taken.error())}});
        return;
    }
    log_info("match_library_taken", {{"digest", library.digest}, {"operators", library.operators.size()}});
    book_->match_with(library_.text());
    conversation_->holds_library(library_.digest());
}

void Daemon::store_certificate(const std::string& certificate_pem)
{
    const Result<void> stored = files_.store_certificate(certificate_pem);
    if (!stored) {
        log_error("certificate_not_stored", {{"reason", describe(stored.error())}});
        return;
    }
    log_info("certificate_renewed");
    is_renewal_wanted_ = false; // the next greeting is answered by whether it is
    connector_->reconnect("certificate renewed");
}

/// The present connection goes on; the next one is made with what is trusted then.
Result<void> Daemon::take_authorities(const link::TrustedAuthorities& trusted)
{
    const Result<void> stored = files_.store_authorities(trusted.certificates_pem);
    if (!stored) {
        log_error("authorities_not_stored", {{"reason", describe(stored.error())}});
        return stored;
    }
    conversation_->trusts(files_.trusted_authorities());
    book_->fetch_trusting(trusted.certificates_pem);
    const Result<Enrolment> enrolment = files_.load();
    if (!enrolment) return enrolment.error();
    const Result<net::CertificateFacts> signer =
        net::find_signer(enrolment->credential.certificate_pem, trusted.certificates_pem);
    is_renewal_wanted_ = !signer || signer->sha256_hex != trusted.signer_sha256;
    if (is_renewal_wanted_)
        next_renewal_look_ =
            std::chrono::steady_clock::now() +
            std::chrono::milliseconds(static_cast<std::int64_t>(random_fraction() * trusted.renew_within_s * 1e3));
    log_info("authorities_taken",
             {{"signer_sha256", trusted.signer_sha256}, {"renews_certificate", is_renewal_wanted_}});
    return {};
}

void Daemon::wait_for_signal()
{
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
        if (error) return;
        if (signal == SIGHUP) {
            reload();
            wait_for_signal();
            return;
        }
        log_info("stopping", {{"signal", signal}});
        work_.stop();
    });
}

} // namespace fathom::agent
