#pragma once

#include "server/identity/audit_chain.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <vector>

/// Rows of the audit log's chain. All functions block; pqxx's exceptions pass through.
namespace fathom::server {

/// Chains acts that are committed and not in the chain yet, in order of time, a bounded number. The periodic task.
Result<void> chain_audit_log(pqxx::work& transaction);

AuditChainEnds find_audit_chain(pqxx::work& transaction);
/// In order, from the one after `after`.
std::vector<ChainedAct> list_chained_acts(pqxx::work& transaction, std::int64_t after, std::int64_t limit);
std::int64_t count_unchained_acts(pqxx::work& transaction);

} // namespace fathom::server
