#include "server/app/probe_verifier.hpp"

#include "core/base/log.hpp"

#include <chrono>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPeriod = 2s;

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

} // namespace

ProbeVerifier::ProbeVerifier(Database& database, const OperatorsService& operators, Metrics& metrics,
                             SupervisorLink& supervisor)
    : database_(&database), operators_(&operators), metrics_(&metrics), supervisor_(&supervisor)
{
}

ProbeVerifier::~ProbeVerifier()
{
    stop();
}

void ProbeVerifier::start()
{
    thread_ = std::thread([this] { repeat(); });
}

void ProbeVerifier::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    if (!thread_.joinable()) return;
    wake_.notify_all();
    supervisor_->end_probes();
    thread_.join();
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
    const Result<std::string> output = supervisor_->run_probe(to_json(task).dump());
    if (!output) return output.error();
    return read_output(*output);
}

} // namespace fathom::server
