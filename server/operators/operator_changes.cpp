#include "server/operators/operator_changes.hpp"

#include "server/identity/audit.hpp"
#include "server/operators/operator_keys_store.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// What this transaction has just added.
OperatorRecord stored(pqxx::work& transaction, const OperatorManifest& manifest)
{
    std::optional<OperatorRecord> record = select_operator(transaction, manifest.id, manifest.version);
    FATHOM_ASSERT(record.has_value());
    return std::move(*record);
}

Result<OperatorRecord> upload(pqxx::work& transaction, const Caller& caller, const OperatorPackage& package)
{
    const OperatorManifest& manifest = package.manifest;
    if (const Result<void> good = check_package(transaction, package); !good) return good.error();
    if (const std::string center = select_operator_key(transaction, package.key_id)->center; !center.empty())
        return Error{Errc::kConflict, "key " + package.key_id + " is of the center " + center +
                                          ", whose operators are reviewed first: submit the package "
                                          "(`fathom operator submit`)"};
    insert_operator(transaction, manifest, "uploaded", caller.actor);
    insert_package(transaction, package);
    OperatorRecord record = stored(transaction, manifest);
    audit(transaction, caller.actor, "operator.upload", manifest.id, caller.request_id,
          {{"version", manifest.version}, {"key_id", package.key_id}, {"object_sha256", record.object_sha256}});
    wake_library_readers(transaction);
    return record;
}

/// The next version of a built-in operator, from an expert's manifest.
Result<OperatorRecord> change_manifest(pqxx::work& transaction, const Caller& caller, OperatorManifest manifest,
                                       const OperatorRecord& current)
{
    const std::optional<OperatorRecord> built_in = select_built_in(transaction, manifest.id);
    if (!built_in)
        return Error{Errc::kInvalid,
                     "the operator has 1 error",
                     {{"manifest", "operator " + manifest.id +
                                       " was uploaded: its manifest is signed together with its "
                                       "code; upload a package with the next version"}}};
    std::vector<FieldError> errors;
    check_expert_change(manifest, built_in->manifest, errors);
    if (!errors.empty()) return value_or_errors(current, std::move(errors), "the operator");
    if (!current.withdrawn_at && same_content(manifest, current.manifest)) return current;
    manifest.version = select_last_version(transaction, manifest.id) + 1;
    insert_operator(transaction, manifest, "expert", caller.actor);
    audit(transaction, caller.actor, "operator.change", manifest.id, caller.request_id,
          {{"version", manifest.version}});
    wake_library_readers(transaction);
    return stored(transaction, manifest);
}

} // namespace

void wake_library_readers(pqxx::work& transaction)
{
    notify(transaction, "operators", "");
    notify(transaction, "catalog", "");
}

Result<void> check_package(pqxx::work& transaction, const OperatorPackage& package)
{
    const OperatorManifest& manifest = package.manifest;
    if (select_built_in(transaction, manifest.id))
        return Error{Errc::kConflict, "operator " + manifest.id + " is built in: give the uploaded one another id"};
    lock_operator_keys(transaction);
    const std::vector<PublicKey> trusted = select_trusted_keys(transaction);
    if (Result<void> verified = verify_operator_package(package, trusted); !verified) return verified;
    const std::int64_t next = select_last_version(transaction, manifest.id) + 1;
    if (manifest.version == next) return {};
    return Error{Errc::kConflict, "the package is version " + std::to_string(manifest.version) + " of " + manifest.id +
                                      ", the next one is " + std::to_string(next) +
                                      ": sign it again with that version"};
}

int add_release(pqxx::work& transaction, const std::vector<OperatorManifest>& manifests)
{
    lock_library(transaction);
    int added = 0;
    for (OperatorManifest manifest : manifests) {
        const std::optional<OperatorRecord> built_in = select_built_in(transaction, manifest.id);
        if (built_in && same_content(built_in->manifest, manifest)) continue;
        // A manifest may name a version of its own, so that a release can leave numbers out.
        manifest.version = std::max(manifest.version, select_last_version(transaction, manifest.id) + 1);
        insert_operator(transaction, manifest, "built_in", "fathom");
        log_after_commit(LogLevel::kInfo, "operator_added", {{"operator", manifest.id}, {"version", manifest.version}});
        ++added;
    }
    if (added > 0) wake_library_readers(transaction);
    return added;
}

Result<OperatorRecord> add_operator(pqxx::work& transaction, const Caller& caller, const OperatorOrder& order)
{
    lock_library(transaction);
    if (order.package) return upload(transaction, caller, *order.package);
    if (const std::int64_t last = select_last_version(transaction, order.manifest.id); last != 0)
        return Error{Errc::kConflict, "operator " + order.manifest.id + " exists, its newest version is " +
                                          std::to_string(last) + "; change it instead (PUT, `fathom operator change`)"};
    return Error{Errc::kInvalid,
                 "the operator has 1 error",
                 {{"manifest", "no center has code for an operator " + order.manifest.id +
                                   "; upload it: a signed package of its manifest and a shared object"}}};
}

Result<std::optional<OperatorRecord>> change_operator(pqxx::work& transaction, const Caller& caller,
                                                      const std::string& id, const OperatorOrder& order,
                                                      const OperatorVersionRule& rule)
{
    if (order.manifest.id != id) {
        const std::string field = order.package ? "package.manifest.id" : "manifest.id";
        return Error{Errc::kInvalid, "the operator has 1 error", {{field, "must be " + id + ", as in the path"}}};
    }
    lock_library(transaction);
    const std::optional<OperatorRecord> current = select_operator(transaction, id, 0);
    if (!current) return Error{Errc::kNotFound, "no such operator"};
    if (!rule(current->manifest.version)) return std::optional<OperatorRecord>();
    Result<OperatorRecord> record = order.package ? upload(transaction, caller, *order.package)
                                                  : change_manifest(transaction, caller, order.manifest, *current);
    if (!record) return record.error();
    return std::optional<OperatorRecord>(std::move(*record));
}

Result<void> withdraw_operator(pqxx::work& transaction, const Caller& caller, const std::string& id,
                               std::int64_t version, ProbeRunTerminator* runs)
{
    lock_library(transaction);
    const std::optional<OperatorRecord> record = select_operator(transaction, id, version);
    if (!record) return Error{Errc::kNotFound, "no such operator or version"};
    if (record->withdrawn_at) return {};
    update_to_withdrawn(transaction, id, version, caller.actor);
    Json detail = {{"version", version}};
    // Code that is built in does no harm: what runs may end.
    if (runs != nullptr && record->origin == "uploaded") {
        const Result<std::int64_t> ended = runs->end_withdrawn_runs(transaction, id, version);
        if (!ended) return ended.error();
        detail["ended_probe_runs"] = *ended;
    }
    audit(transaction, caller.actor, "operator.withdraw", id, caller.request_id, detail);
    wake_library_readers(transaction);
    return {};
}

} // namespace fathom::server
