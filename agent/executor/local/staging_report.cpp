#include "agent/executor/local/staging_report.hpp"

#include "agent/config/staging_order.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/sha256.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>
#include <fcntl.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxReasonBytes = 2000;
/// As many outputs as a job may have, with the longest paths.
constexpr std::size_t kMaxStagingNoteBytes = 256UL << 10U;
constexpr double kMaxStaging_s = 1e9;
constexpr std::size_t kMaxSpoiled = 64;                         ///< as many inputs as a job may have
constexpr std::int64_t kMaxInputBytes = std::int64_t{1} << 56U; ///< as many inputs as a job may have, all the largest

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

/// A file of fathom-stage's; null where it is none of those that it writes.
Json read_note(int folder, const char* name, uid_t owner)
{
    const Result<std::string> report = read_end(folder, name, owner, kMaxStagingNoteBytes);
    if (!report) return nullptr;
    Result<Json> json = parse_json(*report, {.max_bytes = kMaxStagingNoteBytes, .max_depth = 4});
    return json && json->is_object() ? std::move(*json) : Json();
}

/// How long it took, at most as long as the attempt, and how large the inputs are.
void add_inputs(AttemptEnd& end, const Json& note)
{
    if (!note.is_object()) return;
    std::vector<FieldError> errors;
    ObjectReader reader(note, "", errors);
    StagingUse use;
    use.in_s = std::min(reader.required_number("seconds", 0, kMaxStaging_s), end.run_s);
    use.in_bytes = reader.required_integer("bytes", 0, kMaxInputBytes);
    use.in_cached_bytes = std::min(reader.required_integer("cached_bytes", 0, kMaxInputBytes), use.in_bytes);
    if (errors.empty()) end.staging = use;
}

/// After add_inputs().
void add_outputs(AttemptEnd& end, const Json& note)
{
    if (!note.is_object()) return;
    std::vector<FieldError> errors;
    ObjectReader reader(note, "", errors);
    std::vector<StoredOutput> stored = parse_stored_outputs(reader, errors);
    StagingUse use = end.staging.value_or(StagingUse{});
    // A fathom-stage on a node may be older, and name no time.
    const double said_s = reader.optional_number("seconds", 0, kMaxStaging_s).value_or(0);
    use.out_s = std::min(said_s, std::max(0.0, end.run_s - use.in_s));
    for (const StoredOutput& output : stored)
        use.out_bytes += output.size_bytes;
    if (!errors.empty()) return;
    end.outputs = std::move(stored);
    end.staging = use;
}

} // namespace

std::vector<std::string> read_spoiled_inputs(int folder, uid_t owner)
{
    const Json note = read_note(folder, kStagedInputsName, owner);
    if (!note.is_object()) return {};
    std::vector<FieldError> errors;
    return ObjectReader(note, "", errors).strings("spoiled", kMaxSpoiled, {.max_length = kSha256Digits});
}

bool note_inputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner)
{
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return true;
    add_inputs(end, read_note(folder->number(), kStagedInputsName, owner));
    if (end.outcome != AttemptOutcome::kExited || end.exit_code == 0) return true;
    const std::optional<std::string> reason = read_reason(folder->number(), kStagingFailureName, owner);
    if (!reason) return true; // the command ran
    end.outcome = AttemptOutcome::kFailedToStart;
    end.exit_code.reset();
    end.cause = AttemptCause::kStagingFailed;
    end.detail = "staging failed: " + *reason;
    return false;
}

void note_outputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner)
{
    if (end.outcome != AttemptOutcome::kExited) return;
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return;
    add_outputs(end, read_note(folder->number(), kStoredOutputsName, owner));
    if (end.exit_code == 0) return;
    const std::optional<std::string> reason = read_reason(folder->number(), kOutputFailureName, owner);
    if (!reason) return; // the command failed
    end.exit_code.reset();
    end.cause = AttemptCause::kOutputsFailed;
    end.detail = "outputs could not be stored: " + *reason;
}

} // namespace fathom::agent
