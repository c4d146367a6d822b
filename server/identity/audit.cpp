#include "server/identity/audit.hpp"

#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kInsertAudit{"identity_insert_audit", R"sql(
    INSERT INTO audit_log (actor, action, subject, request_id, detail) VALUES ($1, $2, $3, $4, $5::jsonb))sql"};

// Through the index of what it was done to.
constexpr Statement kInsertAuditOnce{"identity_insert_audit_once", R"sql(
    INSERT INTO audit_log (actor, action, subject, request_id, detail)
    SELECT $1::text, $2::text, $3::text, $4::text, $5::jsonb
    WHERE NOT EXISTS (SELECT FROM audit_log a
                      WHERE a.subject = $3::text AND a.actor = $1::text AND a.action = $2::text
                        AND a.at > now() - interval '1 hour'))sql"};

} // namespace

void audit(pqxx::transaction_base& transaction, std::string_view actor, std::string_view action,
           std::string_view subject, std::string_view request_id, const Json& detail)
{
    exec(transaction, kInsertAudit, std::string(actor), std::string(action), std::string(subject),
         std::string(request_id), detail.dump());
}

void audit_once_an_hour(pqxx::transaction_base& transaction, std::string_view actor, std::string_view action,
                        std::string_view subject, std::string_view request_id, const Json& detail)
{
    exec(transaction, kInsertAuditOnce, std::string(actor), std::string(action), std::string(subject),
         std::string(request_id), detail.dump());
}

} // namespace fathom::server
