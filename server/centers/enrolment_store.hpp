#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/net/tls.hpp"
#include "server/store/page.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace pqxx {
class transaction_base;
}

/// Enrolment tokens and certificates of centers. All functions take the caller's transaction, block, and
/// let pqxx's exceptions through to Database::run.
namespace fathom::server {

struct EnrolmentTokenRecord {
    EnrolmentTokenId id;
    std::string center_name;
    Timestamp created_at{};
    Timestamp expires_at{};
    std::optional<Timestamp> used_at;
    bool expired{}; ///< by the database's clock
};

EnrolmentTokenRecord insert_enrolment_token(pqxx::transaction_base& transaction, const EnrolmentTokenId& id,
                                            const std::string& secret_sha256, const std::string& center_name,
                                            const std::string& created_by, std::chrono::seconds valid);
/// Newest first; `after` is an id.
Page<EnrolmentTokenRecord> select_enrolment_tokens(pqxx::transaction_base& transaction, std::int64_t size,
                                                   const std::string& after);
/// Locked until the transaction ends: a token is used once, also when two agents come with it at once.
std::optional<EnrolmentTokenRecord> lock_enrolment_token(pqxx::transaction_base& transaction,
                                                         const std::string& secret_sha256);
/// The same by its id.
std::optional<EnrolmentTokenRecord> lock_enrolment_token_by_id(pqxx::transaction_base& transaction,
                                                               const std::string& id);
/// It expires now, unless it has already.
void expire_token(pqxx::transaction_base& transaction, const EnrolmentTokenId& id);
void mark_token_used(pqxx::transaction_base& transaction, const EnrolmentTokenId& id);

/// The id of the center of this name, made when there is none. Locked until the transaction ends.
CenterId find_or_insert_center(pqxx::transaction_base& transaction, const std::string& name);

/// A certificate that was made for a center.
struct SignedCertificate {
    std::string pem;
    net::CertificateFacts facts;
    std::string authority_sha256; ///< of the authority's certificate, in hex
};

/// A first or repeated enrolment: only this certificate is accepted from now on, and running sessions end. What the
/// agent trusts is not known until it says so.
void set_certificate(pqxx::transaction_base& transaction, const CenterId& id, const SignedCertificate& certificate);

/// A renewal asked for over a session with the certificate `current_serial`, which stays good until the
/// new one is first seen. False when that is not this center's certificate any more.
bool renew_certificate(pqxx::transaction_base& transaction, const CenterId& id, const std::string& current_serial,
                       const SignedCertificate& certificate);

Json to_json(const EnrolmentTokenRecord& token);

} // namespace fathom::server
