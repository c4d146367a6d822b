#pragma once

#include "server/identity/rotation_step.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// What centers have and trust of the network's authorities. Authorities are named by the SHA-256 of their
/// certificates, in hex. Centers that are revoked, or whose certificate has ended, count for nothing. All functions
/// take the caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Centers that have a certificate.
std::int64_t count_certified_centers(pqxx::transaction_base& transaction);

/// From now on it is written down that certificates of which nothing is were signed by this authority.
void adopt_certificates(pqxx::transaction_base& transaction, const std::string& authority_sha256);

/// Centers whose agents are not known to trust this authority, in the order of their names.
std::vector<WaitingCenter> select_centers_not_trusting(pqxx::transaction_base& transaction,
                                                       const std::string& authority_sha256);

/// Centers of which a certificate is accepted that this authority has not signed, in the order of their names.
std::vector<WaitingCenter> select_centers_left_behind(pqxx::transaction_base& transaction,
                                                      const std::string& authority_sha256);

/// Only certificates that this authority has signed are accepted from now on; the sessions of those left behind end.
void leave_behind(pqxx::transaction_base& transaction, const std::string& authority_sha256);

} // namespace fathom::server
