#include "server/centers/enrolment_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kInsertToken = R"sql(
    INSERT INTO enrolment_token (id, secret_sha256, center_name, created_by, expires_at)
    VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
    RETURNING id, center_name, created_at, expires_at, used_at, expires_at <= now() AS expired)sql";

constexpr const char* kSelectTokens = R"sql(
    SELECT id, center_name, created_at, expires_at, used_at, expires_at <= now() AS expired
    FROM enrolment_token WHERE $1 = '' OR id < $1 ORDER BY id DESC LIMIT $2)sql";

constexpr const char* kLockToken = R"sql(
    SELECT id, center_name, created_at, expires_at, used_at, expires_at <= now() AS expired
    FROM enrolment_token WHERE secret_sha256 = $1 FOR UPDATE)sql";

constexpr const char* kLockTokenById = R"sql(
    SELECT id, center_name, created_at, expires_at, used_at, expires_at <= now() AS expired
    FROM enrolment_token WHERE id = $1 FOR UPDATE)sql";

constexpr const char* kExpireToken = "UPDATE enrolment_token SET expires_at = least(expires_at, now()) WHERE id = $1";

constexpr const char* kMarkTokenUsed = "UPDATE enrolment_token SET used_at = now() WHERE id = $1";

// DO UPDATE, not DO NOTHING: it locks the row and returns it in one statement, whoever made it.
constexpr const char* kFindOrInsertCenter = R"sql(
    INSERT INTO center (id, name) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id)sql";

constexpr const char* kSetCertificate = R"sql(
    UPDATE center
    SET certificate_serial = $2, previous_certificate_serial = NULL, certificate_not_after = $3::timestamptz,
        certificate_authority = $4, trusted_authorities = NULL, revoked_at = NULL, version = version + 1, session_epoch = session_epoch + 1
    WHERE id = $1)sql";

constexpr const char* kRenewCertificate = R"sql(
    UPDATE center
    SET certificate_serial = $3, previous_certificate_serial = $2, certificate_not_after = $4::timestamptz,
        certificate_authority = $5
    WHERE id = $1 AND revoked_at IS NULL AND $2 IN (certificate_serial, previous_certificate_serial)
    RETURNING id)sql";

EnrolmentTokenRecord to_token(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .center_name = row["center_name"].as<std::string>(),
            .created_at = to_timestamp(row["created_at"]),
            .expires_at = to_timestamp(row["expires_at"]),
            .used_at = to_optional_timestamp(row["used_at"]),
            .expired = row["expired"].as<bool>()};
}

} // namespace

EnrolmentTokenRecord insert_enrolment_token(pqxx::transaction_base& transaction, const EnrolmentTokenId& id,
                                            const std::string& secret_sha256, const std::string& center_name,
                                            const std::string& created_by, std::chrono::seconds valid)
{
    return to_token(
        transaction.exec_params1(kInsertToken, id.value, secret_sha256, center_name, created_by, valid.count()));
}

Page<EnrolmentTokenRecord> select_enrolment_tokens(pqxx::transaction_base& transaction, std::int64_t size,
                                                   const std::string& after)
{
    std::vector<EnrolmentTokenRecord> tokens;
    for (const pqxx::row& row : transaction.exec_params(kSelectTokens, after, size + 1))
        tokens.push_back(to_token(row));
    return cut_page(std::move(tokens), size, [](const EnrolmentTokenRecord& token) { return token.id.value; });
}

std::optional<EnrolmentTokenRecord> lock_enrolment_token(pqxx::transaction_base& transaction,
                                                         const std::string& secret_sha256)
{
    const pqxx::result rows = transaction.exec_params(kLockToken, secret_sha256);
    if (rows.empty()) return std::nullopt;
    return to_token(rows[0]);
}

std::optional<EnrolmentTokenRecord> lock_enrolment_token_by_id(pqxx::transaction_base& transaction,
                                                               const std::string& id)
{
    const pqxx::result rows = transaction.exec_params(kLockTokenById, id);
    if (rows.empty()) return std::nullopt;
    return to_token(rows[0]);
}

void expire_token(pqxx::transaction_base& transaction, const EnrolmentTokenId& id)
{
    transaction.exec_params0(kExpireToken, id.value);
}

void mark_token_used(pqxx::transaction_base& transaction, const EnrolmentTokenId& id)
{
    transaction.exec_params(kMarkTokenUsed, id.value);
}

CenterId find_or_insert_center(pqxx::transaction_base& transaction, const std::string& name)
{
    return {transaction.exec_params1(kFindOrInsertCenter, CenterId::make().value, name)[0].as<std::string>()};
}

void set_certificate(pqxx::transaction_base& transaction, const CenterId& id, const SignedCertificate& certificate)
{
    const net::CertificateFacts& facts = certificate.facts;
    transaction.exec_params(kSetCertificate, id.value, facts.serial_hex, format_rfc3339(facts.not_after),
                            certificate.authority_sha256);
}

bool renew_certificate(pqxx::transaction_base& transaction, const CenterId& id, const std::string& current_serial,
                       const SignedCertificate& certificate)
{
    const net::CertificateFacts& facts = certificate.facts;
    return !transaction
                .exec_params(kRenewCertificate, id.value, current_serial, facts.serial_hex,
                             format_rfc3339(facts.not_after), certificate.authority_sha256)
                .empty();
}

Json to_json(const EnrolmentTokenRecord& token)
{
    return {{"id", token.id.value},
            {"center_name", token.center_name},
            {"created_at", format_rfc3339(token.created_at)},
            {"expires_at", format_rfc3339(token.expires_at)},
            {"used_at", token.used_at ? Json(format_rfc3339(*token.used_at)) : Json()}};
}

} // namespace fathom::server
