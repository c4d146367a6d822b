#include "probes/upload/sandbox_command.hpp"

#include <array>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace fathom::probes {
namespace {

using Arguments = std::vector<std::string>;

constexpr const char* kTemporaryBytes = "16777216";
constexpr const char* kSharedMemoryBytes = "1048576";

std::string find_bubblewrap()
{
    const char* const set = std::getenv("PATH");
    std::istringstream folders(std::string(set != nullptr ? set : "") + ":/usr/bin:/bin:/usr/local/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string path = folder + "/bwrap";
        if (folder.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
    }
    return "";
}

void append(Arguments& arguments, std::initializer_list<std::string> more)
{
    arguments.insert(arguments.end(), more);
}

void add_namespaces(Arguments& arguments, const SandboxNeeds& needs)
{
    append(arguments, {"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"});
    if (!needs.allows_network) arguments.emplace_back("--unshare-net");
    append(arguments, {"--uid", "65534", "--gid", "65534", "--hostname", "operator", "--cap-drop", "ALL",
                       "--die-with-parent", "--new-session"});
}

/// Variables that say how to compute here go in, nothing else does.
void add_environment(Arguments& arguments, const SandboxNeeds& needs)
{
    const std::string count = std::to_string(needs.threads);
    append(arguments, {"--clearenv", "--setenv", "PATH", "/usr/bin", "--setenv", "LANG", "C.UTF-8", "--setenv",
                       "OMP_NUM_THREADS", count, "--setenv", "OPENBLAS_NUM_THREADS", count});
    if (const char* const core_type = std::getenv("OPENBLAS_CORETYPE"))
        append(arguments, {"--setenv", "OPENBLAS_CORETYPE", core_type});
}

void add_files(Arguments& arguments, const SandboxNeeds& needs)
{
    append(arguments, {"--ro-bind", "/usr", "/usr"});
    for (const char* const path : {"/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"})
        append(arguments, {"--ro-bind-try", path, path});
    if (needs.allows_network) {
        for (const char* const path : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl/certs"})
            append(arguments, {"--ro-bind-try", path, path});
    }
    append(arguments, {"--proc", "/proc", "--dev", "/dev", "--size", kSharedMemoryBytes, "--tmpfs", "/dev/shm",
                       "--size", kTemporaryBytes, "--tmpfs", "/tmp"});
    // By descriptor: this process may be able to read folders that the sandbox's user cannot even pass.
    append(arguments, {"--perms", "0555", "--ro-bind-data", std::to_string(kHostProgramFd), "/operator-host"});
    append(arguments, {"--perms", "0444", "--ro-bind-data", std::to_string(kObjectFd), "/operator.so"});
    append(arguments, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"});
}

} // namespace

Result<std::vector<std::string>> sandbox_command(const SandboxNeeds& needs)
{
    Arguments arguments{find_bubblewrap()};
    if (arguments[0].empty())
        return Error{Errc::kUnavailable, "bubblewrap is not installed; install the package bubblewrap (program bwrap)"};
    add_namespaces(arguments, needs);
    add_environment(arguments, needs);
    add_files(arguments, needs);
    append(arguments, {"--", "/operator-host"});
    return arguments;
}

} // namespace fathom::probes
