#include "agent/executor/local/staging_report.hpp"

#include "agent/config/staging_order.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/utf8.hpp"
#include "schema/link/attempt_detail.hpp"

#include <algorithm>
#include <fcntl.h>

namespace fathom::agent {

bool note_failed_staging(AttemptEnd& end, const std::filesystem::path& work, uid_t owner)
{
    constexpr std::size_t kMaxReportBytes = 2000;
    if (end.outcome != AttemptOutcome::kExited || end.exit_code == 0) return false;
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return false;
    Result<std::string> report = read_end(folder->number(), kStagingFailureName, owner, kMaxReportBytes);
    if (!report) return false; // there is none: the command ran
    // The job's user wrote it, and could have written anything.
    std::string cause = is_utf8(*report) ? *report : "no reason given";
    std::replace_if(cause.begin(), cause.end(), [](unsigned char c) { return c < ' '; }, ' ');
    end.outcome = AttemptOutcome::kFailedToStart;
    end.exit_code.reset();
    end.detail = std::string(link::kStagingFailed) + cause;
    return true;
}

} // namespace fathom::agent
