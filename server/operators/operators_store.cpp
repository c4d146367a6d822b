#include "server/operators/operators_store.hpp"

#include "core/base/log.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kSelectOperators = R"sql(
    SELECT DISTINCT ON (id) id, version, manifest, created_at, withdrawn_at FROM operator
    WHERE id > $1 ORDER BY id, version DESC LIMIT $2)sql";

constexpr const char* kSelectOperator = R"sql(
    SELECT id, version, manifest, created_at, withdrawn_at FROM operator
    WHERE id = $1 AND ($2::bigint = 0 OR version = $2) ORDER BY version DESC LIMIT 1)sql";

constexpr const char* kSelectLibrary = "SELECT id, version, manifest, created_at, withdrawn_at FROM operator";

constexpr const char* kInsertOperator =
    "INSERT INTO operator (id, version, manifest) VALUES ($1, $2, $3::jsonb) ON CONFLICT DO NOTHING";

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
    return OperatorRecord{std::move(*manifest), to_timestamp(row["created_at"]),
                          to_optional_timestamp(row["withdrawn_at"])};
}

std::vector<OperatorRecord> to_records(const pqxx::result& rows)
{
    std::vector<OperatorRecord> records;
    for (const pqxx::row& row : rows) {
        if (std::optional<OperatorRecord> record = to_record(row)) records.push_back(std::move(*record));
    }
    return records;
}

} // namespace

Page<OperatorRecord> select_operators(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    return cut_page(to_records(transaction.exec_params(kSelectOperators, after, size + 1)), size,
                    [](const OperatorRecord& record) { return record.manifest.id; });
}

std::optional<OperatorRecord> select_operator(pqxx::transaction_base& transaction, const std::string& id,
                                              std::int64_t version)
{
    const pqxx::result rows = transaction.exec_params(kSelectOperator, id, version);
    if (rows.empty()) return std::nullopt;
    return to_record(rows[0]);
}

OperatorLibrary select_library(pqxx::transaction_base& transaction)
{
    return OperatorLibrary(to_records(transaction.exec(kSelectLibrary)));
}

void insert_operator(pqxx::transaction_base& transaction, const OperatorManifest& manifest)
{
    transaction.exec_params(kInsertOperator, manifest.id, manifest.version, to_json(manifest).dump());
}

void lock_library(pqxx::transaction_base& transaction)
{
    transaction.exec(kLockLibrary);
}

Json to_json(const OperatorRecord& record)
{
    Json json = to_json(record.manifest);
    json["created_at"] = format_rfc3339(record.created_at);
    json["withdrawn_at"] = time_json(record.withdrawn_at);
    return json;
}

} // namespace fathom::server
