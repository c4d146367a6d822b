#include "server/app/verifier_program.hpp"

#include "core/base/log.hpp"

#include <fstream>
#include <signal.h>
#include <unistd.h>

namespace fathom::server {
namespace {

std::filesystem::path beside_us(const char* name)
{
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path() : self.parent_path() / name;
}

/// A control group beside ours whose processes get the processors that nobody wants, in version 1 hierarchies: in those
/// of version 2 a service has to be given the right to make groups. The file to join it by; empty where there is none.
std::string make_background_group()
{
    std::ifstream ours("/proc/self/cgroup");
    for (std::string line; std::getline(ours, line);) {
        const std::size_t names = line.find(':');
        const std::size_t path = line.find(':', names + 1);
        if (path == std::string::npos) continue;
        const std::string controllers = "," + line.substr(names + 1, path - names - 1) + ",";
        if (controllers.find(",cpu,") == std::string::npos) continue;
        const std::filesystem::path group = "/sys/fs/cgroup/cpu" + line.substr(path + 1) + "/fathom-verify";
        std::error_code error;
        std::filesystem::create_directory(group, error);
        if (error) return {};
        std::ofstream(group / "cpu.shares") << 2; // the least
        std::ofstream(group / "cpu.idle") << 1;   // Linux 5.15
        return (group / "cgroup.procs").string();
    }
    return {};
}

ChildOptions child_options(const VerifierProgram& program)
{
    ChildOptions child;
    child.user = program.user;
    child.signal_on_parent_death = SIGKILL;
    child.folder = "/tmp"; // file operators put their nameless files there
    // Nothing of ours: no setting, no secret.
    child.environment = {"PATH=/usr/bin:/bin", "LANG=C", "FATHOM_CORES=1"};
    child.is_background = program.is_background;
    child.group_file = program.group_file;
    child.address_space_bytes = program.memory_bytes;
    return child;
}

/// Finds out as whom it runs, and whether it does.
Result<std::string> try_program(VerifierProgram& program)
{
    if (geteuid() == 0) {
        Result<UnixUser> user = find_own_user("fathom-verify");
        if (!user) return user.error();
        program.user = std::move(*user);
        if (program.is_background) program.group_file = make_background_group();
    }
    ChildOptions ask = child_options(program);
    ask.is_background = false; // fathomd's start waits for the answer, on a busy machine, too
    ask.group_file.clear();
    ask.arguments = {program.path.string(), "--version"};
    return run_child(std::move(ask), kAnswerLimit);
}

} // namespace

VerifierProgram find_verifier(const std::string& setting, bool is_background)
{
    VerifierProgram program;
    program.is_background = is_background;
    program.path = setting.empty() ? beside_us("fathom-probe") : std::filesystem::path(setting);
    const Result<std::string> answer = try_program(program);
    if (answer) return program;
    log_warning("verification_off", {{"program", program.path.string()},
                                     {"error", answer.error().detail},
                                     {"remedy", "install fathom-probe beside fathomd, or set verify_program"}});
    program.path.clear();
    return program;
}

Result<pid_t> start_verifier(const VerifierProgram& program, int task, int output)
{
    ChildOptions child = child_options(program);
    child.arguments = {program.path.string(), "--task", "/proc/self/fd/" + std::to_string(task), "--resource-type",
                       "cpu"};
    child.inherited = task;
    child.output = output;
    return start_child(child);
}

} // namespace fathom::server
