#include "server/operators/operator_keys_store.hpp"

#include "core/base/log_limit.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// What to_key() reads.
constexpr const char* kColumns = R"sql(
    SELECT k.id, k.name, k.public_key_pem, k.created_at, k.created_by, k.revoked_at,
           coalesce(k.revoked_by, '') AS revoked_by, coalesce(k.center_id, '') AS center_id, coalesce(c.name, '') AS center,
           (SELECT coalesce(jsonb_agg(jsonb_build_array(p.operator_id, p.operator_version)
                                      ORDER BY p.operator_id, p.operator_version), '[]')
            FROM operator_package p WHERE p.key_id = k.id) AS signed_versions
    FROM operator_key k LEFT JOIN center c ON c.id = k.center_id )sql";

const std::string kSelectKeys = std::string(kColumns) + "WHERE k.id > $1 ORDER BY k.id LIMIT $2";
const std::string kSelectKey = std::string(kColumns) + "WHERE k.id = $1";
constexpr const char* kSelectTrusted =
    "SELECT id, public_key_pem FROM operator_key WHERE revoked_at IS NULL ORDER BY id";
constexpr const char* kInsertKey = "INSERT INTO operator_key (id, name, public_key_pem, created_by, center_id) VALUES "
                                   "($1, $2, $3, $4, nullif($5, ''))";
constexpr const char* kSelectCenter = "SELECT id FROM center WHERE id = $1 OR name = $1";
constexpr const char* kRevoke =
    "UPDATE operator_key SET revoked_at = now(), revoked_by = $2 WHERE id = $1 AND revoked_at IS NULL";
constexpr const char* kLockKeys = "LOCK TABLE operator_key IN SHARE ROW EXCLUSIVE MODE";

OperatorKeyRecord to_key(const pqxx::row& row)
{
    OperatorKeyRecord key{.id = row["id"].as<std::string>(),
                          .name = row["name"].as<std::string>(),
                          .public_key_pem = row["public_key_pem"].as<std::string>(),
                          .center_id = row["center_id"].as<std::string>(),
                          .center = row["center"].as<std::string>(),
                          .created_at = to_timestamp(row["created_at"]),
                          .created_by = row["created_by"].as<std::string>(),
                          .revoked_at = to_optional_timestamp(row["revoked_at"]),
                          .revoked_by = row["revoked_by"].as<std::string>(),
                          .signed_versions = {}};
    for (const Json& entry : to_json_value(row["signed_versions"]))
        key.signed_versions.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::int64_t>()});
    return key;
}

} // namespace

Page<OperatorKeyRecord> select_operator_keys(pqxx::transaction_base& transaction, std::int64_t size,
                                             const std::string& after)
{
    std::vector<OperatorKeyRecord> keys;
    for (const pqxx::row& row : transaction.exec_params(kSelectKeys, after, size + 1))
        keys.push_back(to_key(row));
    return cut_page(std::move(keys), size, [](const OperatorKeyRecord& key) { return key.id; });
}

std::optional<OperatorKeyRecord> select_operator_key(pqxx::transaction_base& transaction, const std::string& id)
{
    const pqxx::result rows = transaction.exec_params(kSelectKey, id);
    if (rows.empty()) return std::nullopt;
    return to_key(rows[0]);
}

std::vector<PublicKey> select_trusted_keys(pqxx::transaction_base& transaction)
{
    std::vector<PublicKey> keys;
    for (const pqxx::row& row : transaction.exec(kSelectTrusted)) {
        // Checked when it was added, perhaps by another release: one that does not read is trusted by nobody.
        const auto parsed = parse_public_keys(row["public_key_pem"].as<std::string>());
        if (parsed && !parsed->empty())
            keys.push_back(parsed->front());
        else
            log_limited("operator_key_unreadable", {{"key_id", row["id"].as<std::string>()}});
    }
    return keys;
}

void insert_operator_key(pqxx::transaction_base& transaction, const OperatorKeyRecord& key)
{
    transaction.exec_params(kInsertKey, key.id, key.name, key.public_key_pem, key.created_by, key.center_id);
}

std::optional<std::string> select_center_of_key(pqxx::transaction_base& transaction, const std::string& center)
{
    const pqxx::result rows = transaction.exec_params(kSelectCenter, center);
    if (rows.empty()) return std::nullopt;
    return rows[0]["id"].as<std::string>();
}

void update_to_revoked(pqxx::transaction_base& transaction, const std::string& id, const std::string& revoked_by)
{
    transaction.exec_params(kRevoke, id, revoked_by);
}

void lock_operator_keys(pqxx::transaction_base& transaction)
{
    transaction.exec(kLockKeys);
}

Json to_json(const OperatorKeyRecord& key)
{
    Json versions = Json::array();
    for (const SignedVersion& version : key.signed_versions)
        versions.push_back({{"id", version.operator_id}, {"version", version.version}});
    return {{"id", key.id},
            {"name", key.name},
            {"public_key_pem", key.public_key_pem},
            {"center", text_or_null(key.center)},
            {"created_at", format_rfc3339(key.created_at)},
            {"created_by", key.created_by},
            {"revoked_at", time_json(key.revoked_at)},
            {"revoked_by", text_or_null(key.revoked_by)},
            {"operators", std::move(versions)}};
}

} // namespace fathom::server
