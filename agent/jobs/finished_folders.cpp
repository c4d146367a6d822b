#include "agent/jobs/finished_folders.hpp"

#include "core/base/log.hpp"

namespace fathom::agent {
namespace {

constexpr std::chrono::minutes kRemoveAgain{10}; ///< what could not be removed
constexpr std::chrono::seconds kRemoveSoon{1};   ///< what its supervisor still deletes

} // namespace

void FinishedFolders::add(const AttemptId& attempt)
{
    if (keep_.count() > 0)
        due_.emplace(clock_.now() + keep_, attempt);
    else
        remove(attempt);
}

void FinishedFolders::remove_old()
{
    while (!due_.empty() && due_.begin()->first <= clock_.now()) {
        const AttemptId attempt = due_.begin()->second;
        due_.erase(due_.begin());
        remove(attempt);
    }
}

void FinishedFolders::remove(const AttemptId& attempt)
{
    const Result<void> removed = executor_.remove(attempt);
    if (removed) return;
    if (removed.error().code == Errc::kConflict) {
        due_.emplace(clock_.now() + kRemoveSoon, attempt);
        return;
    }
    log_warning("attempt_folder_stays", {{"attempt_id", attempt.value},
                                         {"reason", removed.error().detail},
                                         {"effect", "it is tried again in some minutes"}});
    due_.emplace(clock_.now() + kRemoveAgain, attempt);
}

} // namespace fathom::agent
