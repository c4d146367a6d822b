#include "server/centers/authority_store.hpp"

#include "server/store/column.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kCountCertified =
    "SELECT count(*) FROM center WHERE revoked_at IS NULL AND certificate_serial IS NOT NULL "
    "AND certificate_not_after > now()";

constexpr const char* kAdoptCertificates = R"sql(
    UPDATE center SET certificate_authority = $1
    WHERE certificate_authority IS NULL AND certificate_serial IS NOT NULL)sql";

constexpr const char* kNotTrusting = R"sql(
    SELECT id, name, agent_version, last_seen_at,
           CASE WHEN connected_at IS NULL THEN 'its agent has not connected since it enrolled'
                WHEN trusted_authorities IS NULL THEN 'its agent does not say what it trusts: it may be older than rotations'
                ELSE 'its agent has not said that it trusts the next authority' END AS reason
    FROM center
    WHERE revoked_at IS NULL AND certificate_serial IS NOT NULL AND certificate_not_after > now()
      AND NOT coalesce($1 = ANY (trusted_authorities), false)
    ORDER BY name)sql";

constexpr const char* kLeftBehind = R"sql(
    SELECT id, name, agent_version, last_seen_at,
           CASE WHEN certificate_authority = $1 THEN 'its agent has not come with the new certificate yet'
                ELSE 'its certificate is of the past authority' END AS reason
    FROM center
    WHERE revoked_at IS NULL AND certificate_serial IS NOT NULL AND certificate_not_after > now()
      AND (certificate_authority IS DISTINCT FROM $1 OR previous_certificate_serial IS NOT NULL)
    ORDER BY name)sql";

constexpr const char* kLeaveBehind = R"sql(
    UPDATE center
    SET certificate_serial = CASE WHEN certificate_authority = $1 THEN certificate_serial END,
        previous_certificate_serial = NULL, session_epoch = session_epoch + 1
    WHERE certificate_serial IS NOT NULL
      AND (certificate_authority IS DISTINCT FROM $1 OR previous_certificate_serial IS NOT NULL)
    RETURNING id)sql";

std::vector<WaitingCenter> waiting_centers(const pqxx::result& rows)
{
    std::vector<WaitingCenter> centers;
    for (const pqxx::row& row : rows) {
        centers.push_back({.id = row["id"].as<std::string>(),
                           .name = row["name"].as<std::string>(),
                           .agent_version = row["agent_version"].as<std::string>(""),
                           .last_seen_at = to_optional_timestamp(row["last_seen_at"]),
                           .reason = row["reason"].as<std::string>()});
    }
    return centers;
}

} // namespace

std::int64_t count_certified_centers(pqxx::transaction_base& transaction)
{
    return transaction.exec_params1(kCountCertified)[0].as<std::int64_t>();
}

void adopt_certificates(pqxx::transaction_base& transaction, const std::string& authority_sha256)
{
    transaction.exec_params0(kAdoptCertificates, authority_sha256);
}

std::vector<WaitingCenter> select_centers_not_trusting(pqxx::transaction_base& transaction,
                                                       const std::string& authority_sha256)
{
    return waiting_centers(transaction.exec_params(kNotTrusting, authority_sha256));
}

std::vector<WaitingCenter> select_centers_left_behind(pqxx::transaction_base& transaction,
                                                      const std::string& authority_sha256)
{
    return waiting_centers(transaction.exec_params(kLeftBehind, authority_sha256));
}

void leave_behind(pqxx::transaction_base& transaction, const std::string& authority_sha256)
{
    for (const pqxx::row& row : transaction.exec_params(kLeaveBehind, authority_sha256))
        notify(transaction, "center", row["id"].as<std::string>());
}

} // namespace fathom::server
