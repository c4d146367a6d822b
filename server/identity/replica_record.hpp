#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/net/task_group.hpp"
#include "server/identity/network_authorities.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

namespace asio = boost::asio;

/// Who a replica is, as it says itself.
struct ReplicaSelf {
    ReplicaId id;
    std::string host; ///< of the machine, for people
    std::string version;
};

/// How a replica stands to the authorities that the network trusts.
enum class ReplicaState {
    kFollows, ///< trusts the same, and signs by the same
    kBehind,  ///< has not taken the last step yet
    kSilent,  ///< has said nothing for a while: it is ending, it hangs, or it does not reach the database
};
std::string_view to_string(ReplicaState state);

/// A replica as the others know it.
struct KnownReplica {
    ReplicaSelf self;
    ReplicaState state{};
    std::string signer_sha256; ///< of the certificate of the authority that it signs with, in hex
    Timestamp trusted_since{}; ///< since when it trusts what it does
    Timestamp seen_at{};
};

/// A replica that has said nothing for so long is silent.
inline constexpr std::chrono::seconds kReplicaTimeout{30};
/// One that has said nothing for so long is known no more.
inline constexpr std::chrono::seconds kReplicaForgotten{120};

/// All that are known, by host and id. Blocks; lets pqxx's exceptions through to Database::run.
/// @param trusted_sha256  what the network trusts now, as AuthorityCertificates::sha256_hex().
std::vector<KnownReplica> select_replicas(pqxx::transaction_base& transaction,
                                          const std::vector<std::string>& trusted_sha256);

/// Keeps the row of this replica: that it runs, and which authorities it trusts. All that it refers to must outlive it.
class ReplicaRecord {
  public:
    ReplicaRecord(Database& database, const AuthorityHolder& holder, ReplicaSelf self);

    /// From now on writes the row every few seconds, and at once when other authorities are trusted, on `executor`,
    /// whose thread waits for the database.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);
    /// Writes the row, and removes those of replicas that are forgotten; called by the task, and by tests. Blocks.
    /// @error others  as Database::run.
    Result<void> write();

  private:
    asio::awaitable<void> keep();
    bool is_due() const;

    Database* database_;
    const AuthorityHolder* holder_;
    ReplicaSelf self_;
    std::vector<std::string> written_; ///< the authorities in the row
    std::chrono::steady_clock::time_point written_at_{};
};

} // namespace fathom::server
