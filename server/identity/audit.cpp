#include "server/identity/audit.hpp"

#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kInsertAudit{"identity_insert_audit", R"sql(
    INSERT INTO audit_log (actor, action, subject, request_id, detail) VALUES ($1, $2, $3, $4, $5::jsonb))sql"};

} // namespace

void audit(pqxx::transaction_base& transaction, std::string_view actor, std::string_view action,
           std::string_view subject, std::string_view request_id, const Json& detail)
{
    exec(transaction, kInsertAudit, std::string(actor), std::string(action), std::string(subject),
         std::string(request_id), detail.dump());
}

} // namespace fathom::server
