#include "server/identity/replica_record.hpp"

#include "core/base/log_limit.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr std::chrono::seconds kLookEvery{1};
constexpr std::chrono::seconds kWriteEvery{10};

constexpr const char* kWriteReplica = R"sql(
    INSERT INTO replica (id, host, version, trusted_authorities) VALUES ($1, $2, $3, $4::text[])
    ON CONFLICT (id) DO UPDATE
    SET trusted_since = CASE WHEN replica.trusted_authorities = excluded.trusted_authorities
                             THEN replica.trusted_since ELSE excluded.trusted_since END,
        trusted_authorities = excluded.trusted_authorities, seen_at = excluded.seen_at)sql";

constexpr const char* kForgetSilent = "DELETE FROM replica WHERE seen_at < now() - $1 * interval '1 second'";

constexpr const char* kSelectReplicas = R"sql(
    SELECT id, host, version, trusted_authorities[1] AS signer, trusted_since, seen_at,
           seen_at < now() - $2 * interval '1 second' AS is_silent, trusted_authorities = $1::text[] AS follows
    FROM replica ORDER BY host, id)sql";

ReplicaState state_of(const pqxx::row& row)
{
    if (row["is_silent"].as<bool>()) return ReplicaState::kSilent;
    return row["follows"].as<bool>() ? ReplicaState::kFollows : ReplicaState::kBehind;
}

} // namespace

std::string_view to_string(ReplicaState state)
{
    switch (state) {
    case ReplicaState::kFollows:
        return "follows";
    case ReplicaState::kBehind:
        return "behind";
    case ReplicaState::kSilent:
        return "silent";
    }
    return "";
}

std::vector<KnownReplica> select_replicas(pqxx::transaction_base& transaction,
                                          const std::vector<std::string>& trusted_sha256)
{
    std::vector<KnownReplica> replicas;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectReplicas, sql_array(trusted_sha256), kReplicaTimeout.count()))
        replicas.push_back({.self = {.id = ReplicaId{row["id"].as<std::string>()},
                                     .host = row["host"].as<std::string>(),
                                     .version = row["version"].as<std::string>()},
                            .state = state_of(row),
                            .signer_sha256 = row["signer"].as<std::string>(""),
                            .trusted_since = to_timestamp(row["trusted_since"]),
                            .seen_at = to_timestamp(row["seen_at"])});
    return replicas;
}

ReplicaRecord::ReplicaRecord(Database& database, const AuthorityHolder& holder, ReplicaSelf self)
    : database_(&database), holder_(&holder), self_(std::move(self))
{
}

void ReplicaRecord::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "record_replica", [this] { return keep(); });
}

asio::awaitable<void> ReplicaRecord::keep()
{
    for (;;) {
        if (is_due()) {
            const Result<void> written = write();
            if (!written) log_limited("replica_not_recorded", {{"error", describe(written.error())}});
        }
        co_await net::TaskGroup::sleep(kLookEvery);
    }
}

bool ReplicaRecord::is_due() const
{
    return std::chrono::steady_clock::now() - written_at_ >= kWriteEvery ||
           holder_->get()->certificates.sha256_hex() != written_;
}

Result<void> ReplicaRecord::write()
{
    std::vector<std::string> trusted = holder_->get()->certificates.sha256_hex();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        transaction.exec_params0(kWriteReplica, self_.id.value, self_.host, self_.version, sql_array(trusted));
        transaction.exec_params0(kForgetSilent, kReplicaForgotten.count());
        return {};
    };
    if (Result<void> done = database_->blocking_run(work); !done) return done;
    written_ = std::move(trusted);
    written_at_ = std::chrono::steady_clock::now();
    return {};
}

} // namespace fathom::server
