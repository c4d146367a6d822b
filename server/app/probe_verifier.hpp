#pragma once

#include "server/app/supervisor_link.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/findings/verification_store.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace fathom::server {

/// Computes what centers claim to have computed: takes one run after another that is marked to be verified, runs the
/// same task in a process of its own (verifier_program), and compares. Replicas share the work.
/// Runs on a thread of its own. start() and stop() are not thread-safe.
class ProbeVerifier {
  public:
    ProbeVerifier(Database& database, const OperatorsService& operators, Metrics& metrics, SupervisorLink& supervisor);
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
    SupervisorLink* supervisor_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool is_stopping_ = false; ///< under mutex_
    std::thread thread_;
};

} // namespace fathom::server
