#pragma once

#include "core/base/clock.hpp"
#include "core/base/ed25519.hpp"
#include "core/base/json_reader.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of the keys whose holders may upload operators. All functions take the caller's transaction, block, and let
/// pqxx's exceptions through to Database::run.
namespace fathom::server {

/// One version of an uploaded operator.
struct SignedVersion {
    std::string operator_id;
    std::int64_t version{};
};

struct OperatorKeyRecord {
    std::string id; ///< key_id() of the key
    std::string name;
    std::string public_key_pem;
    std::string center_id; ///< of the center whose expert has it; empty: of the network
    std::string center;    ///< its name
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> revoked_at;
    std::string revoked_by;
    std::vector<SignedVersion> signed_versions; ///< what it signed that was uploaded, by operator and version
};

/// By id; `after` is one.
Page<OperatorKeyRecord> select_operator_keys(pqxx::transaction_base& transaction, std::int64_t size,
                                             const std::string& after);
std::optional<OperatorKeyRecord> select_operator_key(pqxx::transaction_base& transaction, const std::string& id);
/// Those that are not revoked, in order of id.
std::vector<PublicKey> select_trusted_keys(pqxx::transaction_base& transaction);
void insert_operator_key(pqxx::transaction_base& transaction, const OperatorKeyRecord& key);
/// The id of a center, by its id or name; empty: there is none.
std::optional<std::string> select_center_of_key(pqxx::transaction_base& transaction, const std::string& center);
/// Revokes once.
void update_to_revoked(pqxx::transaction_base& transaction, const std::string& id, const std::string& revoked_by);
/// Uploads and changes of keys go one after the other: no package gets in with a key that is being revoked.
void lock_operator_keys(pqxx::transaction_base& transaction);

Json to_json(const OperatorKeyRecord& key);

} // namespace fathom::server
