#include "server/app/probe_verifier.hpp"

#include "core/base/log.hpp"
#include "server/app/own_user.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPeriod = 2s;
constexpr int kNiceness = 19;

std::filesystem::path beside_us(const char* name)
{
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path() : self.parent_path() / name;
}

/// Nothing of ours: no setting, no secret.
std::vector<std::string> bare_environment()
{
    return {"PATH=/usr/bin:/bin", "LANG=C", "FATHOM_CORES=1"};
}

ChildOptions child_options(const VerifierOptions& options)
{
    ChildOptions child;
    child.user = options.user;
    child.signal_on_parent_death = SIGKILL;
    child.folder = "/tmp"; // file operators put their nameless files there
    child.environment = bare_environment();
    child.niceness = kNiceness;
    child.address_space_bytes = options.memory_bytes;
    return child;
}

/// A file without a name that a child reads as /proc/self/fd/N.
class MemoryFile {
  public:
    explicit MemoryFile(const std::string& text) : number_(memfd_create("probe-task", MFD_CLOEXEC))
    {
        std::size_t written = 0;
        while (number_ >= 0 && written < text.size()) {
            const ssize_t size = write(number_, text.data() + written, text.size() - written);
            if (size < 0 && errno == EINTR) continue;
            if (size <= 0) break;
            written += static_cast<std::size_t>(size);
        }
        is_complete_ = number_ >= 0 && written == text.size();
    }
    ~MemoryFile()
    {
        if (number_ >= 0) close(number_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    bool is_complete() const { return is_complete_; }
    int number() const { return number_; }
    std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

  private:
    int number_;
    bool is_complete_{};
};

/// Among warnings, the one line that is a result.
Result<ProbeResult> read_output(const std::string& output)
{
    std::size_t begin = 0;
    while (begin < output.size()) {
        const std::size_t end = std::min(output.find('\n', begin), output.size());
        if (output[begin] == '{') {
            const Result<Json> json = parse_json(output.substr(begin, end - begin), {.max_bytes = 4UL << 20U});
            if (!json) return json.error();
            return parse_probe_result(*json);
        }
        begin = end + 1;
    }
    return Error{Errc::kInternal, "it printed no result"};
}

/// Finds out as whom it runs, and whether it does.
Result<std::string> try_program(VerifierOptions& options)
{
    if (geteuid() == 0) {
        Result<UnixUser> user = find_own_user("fathom-verify");
        if (!user) return user.error();
        options.user = std::move(*user);
    }
    ChildOptions ask = child_options(options);
    ask.arguments = {options.program.string(), "--version"};
    return run_child(std::move(ask));
}

} // namespace

VerifierOptions find_verifier(const std::string& setting)
{
    VerifierOptions options;
    options.program = setting.empty() ? beside_us("fathom-probe") : std::filesystem::path(setting);
    const Result<std::string> answer = try_program(options);
    if (answer) return options;
    log_warning("verification_off", {{"program", options.program.string()},
                                     {"error", answer.error().detail},
                                     {"remedy", "install fathom-probe beside fathomd, or set verify_program"}});
    options.program.clear();
    return options;
}

ProbeVerifier::ProbeVerifier(Database& database, const OperatorsService& operators, Metrics& metrics,
                             VerifierOptions options)
    : database_(&database), operators_(&operators), metrics_(&metrics), options_(std::move(options))
{
}

ProbeVerifier::~ProbeVerifier()
{
    stop();
}

void ProbeVerifier::start()
{
    if (!options_.program.empty()) thread_ = std::thread([this] { repeat(); });
}

void ProbeVerifier::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        if (child_ > 0) kill(child_, SIGKILL);
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ProbeVerifier::repeat()
{
    for (;;) {
        const bool was_busy = verify_one();
        std::unique_lock lock(mutex_);
        if (wake_.wait_for(lock, was_busy ? 0s : kPeriod, [this] { return is_stopping_; })) return;
    }
}

bool ProbeVerifier::verify_one()
{
    auto claim = [](pqxx::work& transaction) -> Result<std::optional<VerificationOrder>> {
        return claim_verification(transaction);
    };
    const Result<std::optional<VerificationOrder>> claimed = database_->blocking_run(claim);
    if (!claimed) {
        log_warning("verification_failed", {{"error", describe(claimed.error())}});
        return false;
    }
    if (!*claimed) return false;
    const VerificationOrder& order = **claimed;
    const VerificationVerdict verdict = verify(order);
    {
        const std::lock_guard lock(mutex_);
        if (is_stopping_) return false; // killed midway: it says nothing
    }
    auto conclude = [&](pqxx::work& transaction) -> Result<void> {
        conclude_verification(transaction, order, verdict);
        return {};
    };
    if (const Result<void> done = database_->blocking_run(conclude); !done) {
        log_warning("verification_failed",
                    {{"probe_run_id", order.place.run.value}, {"error", describe(done.error())}});
        return false;
    }
    metrics_->count("fathom_probe_verifications_total", "Results of probes that the metascheduler computed itself.",
                    {{"outcome", std::string(to_string(verdict.outcome))}});
    log_info("probe_run_verified", {{"probe_run_id", order.place.run.value},
                                    {"center_id", order.place.center_id.value},
                                    {"outcome", to_string(verdict.outcome)},
                                    {"detail", verdict.detail}});
    return true;
}

VerificationVerdict ProbeVerifier::verify(const VerificationOrder& order)
{
    using Outcome = VerificationOutcome;
    if (!order.obstacle.empty()) return {Outcome::kImpossible, order.obstacle};
    const OperatorLibraryPointer library = operators_->library();
    Result<ProbeTask> task = verification_task(order.document, *library);
    if (!task) return {Outcome::kImpossible, task.error().detail};
    const Result<ProbeResult> computed = compute(*task);
    if (!computed) return {Outcome::kImpossible, computed.error().detail};
    return compare_results(order.claimed, *computed, *library);
}

Result<ProbeResult> ProbeVerifier::compute(const ProbeTask& task)
{
    const MemoryFile file(to_json(task).dump());
    if (!file.is_complete()) return Error{Errc::kUnavailable, std::string("memory file: ") + std::strerror(errno)};
    ChildOptions child = child_options(options_);
    child.arguments = {options_.program.string(), "--task", file.path(), "--resource-type", "cpu"};
    child.inherited = file.number();
    child.started = [this](pid_t id) {
        const std::lock_guard lock(mutex_);
        child_ = id;
        if (is_stopping_ && id > 0) kill(id, SIGKILL);
    };
    const Result<std::string> output = run_child(std::move(child));
    if (!output) return output.error();
    return read_output(*output);
}

} // namespace fathom::server
