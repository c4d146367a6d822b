#include "server/operators/operator_attachments.hpp"

#include "server/operators/operators_store.hpp"

#include <map>
#include <utility>

namespace fathom::server {
namespace {

/// A job goes to its agent in one message (8 MiB at most), beside its task.
constexpr std::size_t kMaxPackageBytesOfJob = 4UL << 20U;

std::string file_name(const OperatorManifest& manifest)
{
    return "operator-" + manifest.id + "-" + std::to_string(manifest.version) + ".json";
}

} // namespace

Result<OperatorAttachments> operator_attachments(pqxx::transaction_base& transaction,
                                                 const std::vector<OperatorUse>& uses)
{
    OperatorAttachments attachments;
    std::size_t package_bytes = 0;
    std::map<std::pair<std::string, std::int64_t>, std::optional<OperatorManifest>> seen;
    for (const OperatorUse& use : uses) {
        const auto [place, is_new] = seen.try_emplace({use.id, use.version});
        if (!is_new) {
            attachments.of_uses.push_back(place->second);
            continue;
        }
        std::optional<OperatorRecord> record = select_operator(transaction, use.id, use.version);
        if (record) place->second = record->manifest;
        attachments.of_uses.push_back(place->second);
        if (!record) continue; // the probe itself says what it does not know
        if (record->origin != "uploaded") {
            const bool is_first = record->origin == "built_in" && record->manifest.version == 1;
            if (!is_first) {
                leave_out_own_fields(record->manifest);
                attachments.manifests.push_back(std::move(record->manifest));
            }
            continue;
        }
        if (lock_withdrawal(transaction, use.id, record->manifest.version))
            return Error{Errc::kInfeasible, "version " + std::to_string(record->manifest.version) + " of operator " +
                                                use.id + " is withdrawn; make a task with a newer version"};
        std::optional<std::string> package = select_package(transaction, use.id, record->manifest.version);
        FATHOM_ASSERT(package.has_value()); // both rows are written in one transaction
        package_bytes += package->size();
        if (package_bytes > kMaxPackageBytesOfJob)
            return Error{Errc::kTooLarge, "the uploaded operators of this task are together larger than 4 MiB; make "
                                          "several tasks of them"};
        attachments.packages[file_name(record->manifest)] = std::move(*package);
    }
    return attachments;
}

} // namespace fathom::server
