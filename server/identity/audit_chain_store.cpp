#include "server/identity/audit_chain_store.hpp"

#include "server/identity/audit_chain.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxAtOnce = 5000;

#define FATHOM_CHAINED_ACT                                                                                             \
    "(extract(epoch FROM at) * 1000000)::bigint, actor, action, subject, request_id, detail::text "
// Who chains waits for whoever chains: the row is the chain's end.
constexpr Statement kLockEnds{"identity_lock_audit_chain", R"sql(
    SELECT first_number, first_sha256, last_number, last_sha256 FROM audit_chain FOR UPDATE)sql"};
constexpr Statement kFindEnds{"identity_find_audit_chain", R"sql(
    SELECT first_number, first_sha256, last_number, last_sha256 FROM audit_chain)sql"};
constexpr Statement kListUnchained{"identity_list_unchained_audit",
                                   "SELECT id, " FATHOM_CHAINED_ACT
                                   "FROM audit_log WHERE chain_number IS NULL ORDER BY at, id LIMIT $1"};
constexpr Statement kChain{"identity_chain_audit", R"sql(
    UPDATE audit_log SET chain_number = new.number, chain_sha256 = new.sha256
    FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS new (id, number, sha256) WHERE audit_log.id = new.id)sql"};
constexpr Statement kMoveEnd{"identity_move_audit_chain", R"sql(
    UPDATE audit_chain SET last_number = $1, last_sha256 = $2)sql"};
constexpr Statement kListChained{
    "identity_list_chained_audit",
    "SELECT chain_number, " FATHOM_CHAINED_ACT
    ", chain_sha256 FROM audit_log WHERE chain_number > $1 ORDER BY chain_number LIMIT $2"};
constexpr Statement kCountUnchained{"identity_count_unchained_audit",
                                    "SELECT count(*) FROM audit_log WHERE chain_number IS NULL"};

/// The columns of FATHOM_CHAINED_ACT, which are the second to the seventh.
ChainedAct to_act(const pqxx::row& row)
{
    ChainedAct act;
    act.at_us = row[1].as<std::int64_t>();
    act.actor = row[2].as<std::string>();
    act.action = row[3].as<std::string>();
    act.subject = row[4].as<std::string>();
    act.request_id = row[5].as<std::string>();
    act.detail = row[6].as<std::string>();
    return act;
}

AuditChainEnds to_ends(const pqxx::row& row)
{
    return {row[0].as<std::int64_t>(), row[1].as<std::string>(), row[2].as<std::int64_t>(), row[3].as<std::string>()};
}

} // namespace

Result<void> chain_audit_log(pqxx::work& transaction)
{
    AuditChainEnds ends = to_ends(exec(transaction, kLockEnds)[0]);
    const pqxx::result rows = exec(transaction, kListUnchained, kMaxAtOnce);
    if (rows.empty()) return {};
    SqlArray ids;
    SqlArray numbers;
    SqlArray hashes;
    for (const pqxx::row& row : rows) {
        ChainedAct act = to_act(row);
        act.number = ++ends.last_number;
        ends.last_sha256 = audit_hash(ends.last_sha256, act);
        ids.add(row[0].as<std::int64_t>());
        numbers.add(act.number);
        hashes.add(ends.last_sha256);
    }
    exec(transaction, kChain, ids.take(), numbers.take(), hashes.take());
    exec(transaction, kMoveEnd, ends.last_number, ends.last_sha256);
    return {};
}

AuditChainEnds find_audit_chain(pqxx::work& transaction)
{
    return to_ends(exec(transaction, kFindEnds)[0]);
}

std::vector<ChainedAct> list_chained_acts(pqxx::work& transaction, std::int64_t after, std::int64_t limit)
{
    std::vector<ChainedAct> acts;
    for (const pqxx::row& row : exec(transaction, kListChained, after, limit)) {
        acts.push_back(to_act(row));
        acts.back().number = row[0].as<std::int64_t>();
        acts.back().sha256 = row[7].as<std::string>();
    }
    return acts;
}

std::int64_t count_unchained_acts(pqxx::work& transaction)
{
    return exec(transaction, kCountUnchained)[0][0].as<std::int64_t>();
}

} // namespace fathom::server
