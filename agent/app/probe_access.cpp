#include "agent/app/probe_access.hpp"

#include "agent/executor/local/job_view.hpp"
#include "agent/executor/local/trial_process.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// By trying: rights have many sources.
bool may_start(const UnixUser& user, const std::filesystem::path& program)
{
    return succeeds_in_child([&] { return become(user) && ::access(program.c_str(), X_OK) == 0; });
}

} // namespace

std::filesystem::path let_reach(const std::filesystem::path& probe_program, const UnixUser& user)
{
    if (may_start(user, probe_program)) return probe_program;
    // Stays open for the life of the process.
    const int program = ::open(probe_program.c_str(), O_PATH | O_CLOEXEC);
    if (program < 0) return probe_program; // there is none: who starts it says so
    JobView view;
    view.programs = probe_program.parent_path();
    view.own_shared_memory = false; // device files may be described anywhere below /dev
    const std::filesystem::path seen = std::filesystem::path(kViewPrograms) / probe_program.filename();
    if (enter_view(view).empty() && may_start(user, seen)) return seen;
    return "/proc/self/fd/" + std::to_string(program);
}

} // namespace fathom::agent
