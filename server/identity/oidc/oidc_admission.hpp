#pragma once

#include "core/base/json_reader.hpp"
#include "server/identity/oidc/oidc_refusal.hpp"
#include "server/identity/oidc/oidc_settings.hpp"
#include "server/identity/oidc/person.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// Whether somebody whom the provider knows gets in, and as whom.
struct OidcAdmission {
    std::optional<OidcRefusal> refusal;
    Principal principal; ///< named as the account; without a refusal
    Json detail;         ///< for the audit log
    bool has_changed{};  ///< what an account may, so that what is known of it must be forgotten
};

/// Finds the account of issuer and subject, or makes one; its role is what the groups give now. Who has no role any
/// more is signed out everywhere. Writes the audit log, refusals included. Runs in the caller's transaction, which must
/// be committed also after a refusal, and throws libpqxx's exceptions.
OidcAdmission admit_person(pqxx::work& transaction, const OidcSettings& settings, const Person& person,
                           const std::string& request_id);

} // namespace fathom::server
