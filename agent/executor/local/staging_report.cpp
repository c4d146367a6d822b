#include "agent/executor/local/staging_report.hpp"

#include "agent/config/staging_order.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/utf8.hpp"
#include "schema/link/attempt_detail.hpp"

#include <algorithm>
#include <fcntl.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxReasonBytes = 2000;
constexpr std::size_t kMaxStoredBytes = 256UL << 10U; ///< as many outputs as a job may have, with the longest paths

/// Why something failed, as fathom-stage has written it; empty where it did not fail. The job's user could have written
/// anything there.
std::optional<std::string> read_reason(int folder, const char* name, uid_t owner)
{
    const Result<std::string> report = read_end(folder, name, owner, kMaxReasonBytes);
    if (!report) return std::nullopt;
    std::string reason = is_utf8(*report) ? *report : "no reason given";
    std::replace_if(reason.begin(), reason.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return reason;
}

std::vector<StoredOutput> read_stored(int folder, uid_t owner)
{
    const Result<std::string> report = read_end(folder, kStoredOutputsName, owner, kMaxStoredBytes);
    if (!report) return {};
    const Result<Json> json = parse_json(*report, {.max_bytes = kMaxStoredBytes, .max_depth = 4});
    if (!json || !json->is_object()) return {};
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::vector<StoredOutput> stored = parse_stored_outputs(reader, errors);
    return errors.empty() ? stored : std::vector<StoredOutput>();
}

} // namespace

bool note_failed_staging(AttemptEnd& end, const std::filesystem::path& work, uid_t owner)
{
    if (end.outcome != AttemptOutcome::kExited || end.exit_code == 0) return false;
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return false;
    const std::optional<std::string> reason = read_reason(folder->number(), kStagingFailureName, owner);
    if (!reason) return false; // the command ran
    end.outcome = AttemptOutcome::kFailedToStart;
    end.exit_code.reset();
    end.detail = std::string(link::kStagingFailed) + *reason;
    return true;
}

void note_outputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner)
{
    if (end.outcome != AttemptOutcome::kExited) return;
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return;
    end.outputs = read_stored(folder->number(), owner);
    if (end.exit_code == 0) return;
    const std::optional<std::string> reason = read_reason(folder->number(), kOutputFailureName, owner);
    if (!reason) return; // the command failed
    end.exit_code.reset();
    end.detail = std::string(link::kOutputsFailed) + *reason;
}

} // namespace fathom::agent
