#pragma once

#include "server/app/child_process.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/verification_store.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace fathom::server {

/// The metascheduler's own fathom-probe, and how it may run.
struct VerifierOptions {
    std::filesystem::path program;            ///< absolute; empty: nothing is verified
    std::optional<UnixUser> user;             ///< whom it runs as; empty: ourselves
    std::uint64_t memory_bytes = 8ULL << 30U; ///< of address space
};

/// The program of the setting `verify_program`, or, where that is empty, `fathom-probe` beside this program; run as
/// a user of its own when we are root, `fathom-verify` where there is one (own_user). Tries it. Without one that works
/// `program` is empty, and the log says why.
VerifierOptions find_verifier(const std::string& setting);

/// Computes what centers claim to have computed: takes one run after another that is marked to be verified, runs the
/// same task in a process of its own, with one thread, low priority and little memory, and compares. Replicas share the
/// work. Runs on a thread of its own. start() and stop() are not thread-safe.
class ProbeVerifier {
  public:
    ProbeVerifier(Database& database, const OperatorsService& operators, Metrics& metrics, VerifierOptions options);
    ~ProbeVerifier();
    ProbeVerifier(const ProbeVerifier&) = delete;
    ProbeVerifier& operator=(const ProbeVerifier&) = delete;

    void start();
    /// Ends what runs; another replica, or the next start, takes it up again. Blocks.
    void stop();

  private:
    void repeat();
    /// False when there was nothing to do.
    bool verify_one();
    VerificationVerdict verify(const VerificationOrder& order);
    Result<ProbeResult> compute(const ProbeTask& task);

    Database* database_;
    const OperatorsService* operators_;
    Metrics* metrics_;
    VerifierOptions options_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool is_stopping_ = false; ///< under mutex_
    pid_t child_ = 0;          ///< under mutex_; 0: none runs
    std::thread thread_;
};

} // namespace fathom::server
