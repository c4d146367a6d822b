#include "server/operators/operators_store.hpp"

#include "core/base/log.hpp"
#include "core/base/secret.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// What to_record() reads; the package itself is not among it.
constexpr const char* kColumns = R"sql(
    o.id, o.version, o.manifest, o.created_at, o.withdrawn_at, o.origin, o.created_by,
    coalesce(o.withdrawn_by, '') AS withdrawn_by, coalesce(p.key_id, '') AS key_id,
    coalesce(p.object_sha256, '') AS object_sha256, coalesce(p.object_bytes, 0) AS object_bytes
    FROM operator o LEFT JOIN operator_package p ON p.operator_id = o.id AND p.operator_version = o.version )sql";

// Of each operator the version in use comes first.
const std::string kSelectOperators =
    std::string("SELECT DISTINCT ON (o.id) ") + kColumns +
    "WHERE o.id > $1 ORDER BY o.id, (o.withdrawn_at IS NOT NULL), o.version DESC LIMIT $2";

const std::string kSelectVersions =
    std::string("SELECT ") + kColumns +
    "WHERE o.id = $1 AND ($2::bigint = 0 OR o.version < $2) ORDER BY o.version DESC LIMIT $3";

const std::string kSelectOperator = std::string("SELECT ") + kColumns +
                                    "WHERE o.id = $1 AND ($2::bigint = 0 OR o.version = $2) "
                                    "ORDER BY (o.withdrawn_at IS NOT NULL), o.version DESC LIMIT 1";

constexpr const char* kSelectLastVersion = "SELECT coalesce(max(version), 0) FROM operator WHERE id = $1";

const std::string kSelectBuiltIn =
    std::string("SELECT ") + kColumns + "WHERE o.id = $1 AND o.origin = 'built_in' ORDER BY o.version DESC LIMIT 1";

const std::string kSelectLibrary = std::string("SELECT ") + kColumns;

constexpr const char* kInsertOperator =
    "INSERT INTO operator (id, version, manifest, origin, created_by) VALUES ($1, $2, $3::jsonb, $4, $5)";

constexpr const char* kInsertPackage = R"sql(
    INSERT INTO operator_package (operator_id, operator_version, package, object_sha256, object_bytes, key_id)
    VALUES ($1, $2, $3, $4, $5, $6))sql";

constexpr const char* kSelectPackage =
    "SELECT package FROM operator_package WHERE operator_id = $1 AND operator_version = $2";

// Several may hold it at once; kWithdraw waits for them, or they for it.
constexpr const char* kLockWithdrawal =
    "SELECT withdrawn_at IS NOT NULL FROM operator WHERE id = $1 AND version = $2 FOR SHARE";

constexpr const char* kWithdraw = R"sql(
    UPDATE operator SET withdrawn_at = now(), withdrawn_by = $3
    WHERE id = $1 AND version = $2 AND withdrawn_at IS NULL)sql";

// Shared row exclusive: readers go on.
constexpr const char* kLockLibrary = "LOCK TABLE operator IN SHARE ROW EXCLUSIVE MODE";

/// Empty when the manifest was written by a newer program that this one does not understand.
std::optional<OperatorRecord> to_record(const pqxx::row& row)
{
    Result<OperatorManifest> manifest = parse_operator_manifest(to_json_value(row["manifest"]));
    if (!manifest) {
        log_error("manifest_unreadable",
                  {{"operator", row["id"].as<std::string>()}, {"error", describe(manifest.error())}});
        return std::nullopt;
    }
    manifest->version = row["version"].as<std::int64_t>();
    return OperatorRecord{.manifest = std::move(*manifest),
                          .created_at = to_timestamp(row["created_at"]),
                          .withdrawn_at = to_optional_timestamp(row["withdrawn_at"]),
                          .origin = row["origin"].as<std::string>(),
                          .created_by = row["created_by"].as<std::string>(),
                          .withdrawn_by = row["withdrawn_by"].as<std::string>(),
                          .key_id = row["key_id"].as<std::string>(),
                          .object_sha256 = row["object_sha256"].as<std::string>(),
                          .object_bytes = row["object_bytes"].as<std::int64_t>()};
}

std::vector<OperatorRecord> to_records(const pqxx::result& rows)
{
    std::vector<OperatorRecord> records;
    for (const pqxx::row& row : rows) {
        if (std::optional<OperatorRecord> record = to_record(row)) records.push_back(std::move(*record));
    }
    return records;
}

std::optional<OperatorRecord> first_record(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_record(rows[0]);
}

} // namespace

Page<OperatorRecord> select_operators(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    const pqxx::result rows = transaction.exec_params(kSelectOperators, after, size + 1);
    return page_of_readable(rows, size, to_record, [](const pqxx::row& row) { return row["id"].as<std::string>(); });
}

Page<OperatorRecord> select_versions(pqxx::transaction_base& transaction, const std::string& id, std::int64_t size,
                                     std::int64_t after)
{
    const pqxx::result rows = transaction.exec_params(kSelectVersions, id, after, size + 1);
    return page_of_readable(rows, size, to_record,
                            [](const pqxx::row& row) { return row["version"].as<std::string>(); });
}

std::optional<OperatorRecord> select_operator(pqxx::transaction_base& transaction, const std::string& id,
                                              std::int64_t version)
{
    return first_record(transaction.exec_params(kSelectOperator, id, version));
}

std::int64_t select_last_version(pqxx::transaction_base& transaction, const std::string& id)
{
    return transaction.exec_params1(kSelectLastVersion, id)[0].as<std::int64_t>();
}

std::optional<OperatorRecord> select_built_in(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_record(transaction.exec_params(kSelectBuiltIn, id));
}

OperatorLibrary select_library(pqxx::transaction_base& transaction)
{
    return OperatorLibrary(to_records(transaction.exec(kSelectLibrary)));
}

void insert_operator(pqxx::transaction_base& transaction, const OperatorManifest& manifest, const std::string& origin,
                     const std::string& created_by)
{
    transaction.exec_params(kInsertOperator, manifest.id, manifest.version, to_json(manifest).dump(), origin,
                            created_by);
}

void insert_package(pqxx::transaction_base& transaction, const OperatorPackage& package)
{
    transaction.exec_params(kInsertPackage, package.manifest.id, package.manifest.version, to_json(package).dump(),
                            sha256_hex(package.object), static_cast<std::int64_t>(package.object.size()),
                            package.key_id);
}

std::optional<std::string> select_package(pqxx::transaction_base& transaction, const std::string& id,
                                          std::int64_t version)
{
    const pqxx::result rows = transaction.exec_params(kSelectPackage, id, version);
    if (rows.empty()) return std::nullopt;
    return rows[0]["package"].as<std::string>();
}

bool lock_withdrawal(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version)
{
    return transaction.exec_params1(kLockWithdrawal, id, version)[0].as<bool>();
}

void update_to_withdrawn(pqxx::transaction_base& transaction, const std::string& id, std::int64_t version,
                         const std::string& withdrawn_by)
{
    transaction.exec_params(kWithdraw, id, version, withdrawn_by);
}

void lock_library(pqxx::transaction_base& transaction)
{
    transaction.exec(kLockLibrary);
}

Json to_json(const OperatorRecord& record)
{
    Json json = to_json(record.manifest);
    json["origin"] = record.origin;
    json["created_at"] = format_rfc3339(record.created_at);
    json["created_by"] = record.created_by;
    json["withdrawn_at"] = time_json(record.withdrawn_at);
    json["withdrawn_by"] = text_or_null(record.withdrawn_by);
    json["key_id"] = text_or_null(record.key_id);
    json["object_sha256"] = text_or_null(record.object_sha256);
    json["object_bytes"] = record.object_bytes == 0 ? Json() : Json(record.object_bytes);
    return json;
}

} // namespace fathom::server
