// The ways of driver_calls with child processes.
#include "tests/agent/gpu/driver_calls.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace fathom::gpu::cuda;

extern "C" {
Init cuInit;
}

namespace driver_calls {
namespace {

int open_sockets()
{
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        count += std::filesystem::read_symlink(entry.path(), gone).string().starts_with("socket:") ? 1 : 0;
    }
    return count;
}

} // namespace

/// Many children, for two seconds and until the test says so: none has a socket that this program had not at its
/// beginning.
void forks()
{
    const int before = open_sockets();
    make_context();
    for (int i = 0; i < 400 || !is_told("has connected"); ++i) {
        const pid_t one = ::fork();
        if (one == 0) ::_exit(open_sockets() > before ? 1 : 0);
        int status = 0;
        require(::waitpid(one, &status, 0) == one && WIFEXITED(status), "a child is gone");
        require(WEXITSTATUS(status) == 0, "a child has a connection of its parent's");
        ::usleep(5000);
    }
}

/// With a child that goes on as this program, and one that begins anew.
void children()
{
    auto* const is_shared = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_is_shared"));
    require(is_shared != nullptr && is_shared() == 0, "fathom_gpu_is_shared"); // the library has begun before the fork
    const pid_t forked = ::fork();
    if (forked == 0) {
        require(cuInit(0), "cuInit");
        make_context();
        const Address address = allocate(2 * kMiB);
        pause("forked");
        release(address);
        std::exit(0);
    }
    const pid_t executed = ::fork();
    if (executed == 0) {
        ::execl("/proc/self/exe", "driver_calls", "child", nullptr);
        ::_exit(127);
    }
    require(cuInit(0), "cuInit");
    make_context();
    const Address address = allocate(2 * kMiB);
    pause("parent");
    for (const pid_t process : {forked, executed}) {
        int status = 0;
        require(::waitpid(process, &status, 0) == process && status == 0, "a child failed");
    }
    release(address);
}

/// Which are there, and never use a GPU.
void idle_children()
{
    make_context(); // the library has begun before the fork
    std::array<pid_t, 4> children{};
    for (pid_t& one : children) {
        one = ::fork();
        if (one != 0) continue;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::pause();
        ::_exit(1);
    }
    wait_for("forked");
    for (const pid_t one : children) {
        int status = 0;
        require(::kill(one, SIGTERM) == 0 && ::waitpid(one, &status, 0) == one, "a child is gone");
    }
}

void child()
{
    make_context();
    const Address address = allocate(4 * kMiB);
    pause("executed");
    release(address);
}

} // namespace driver_calls
