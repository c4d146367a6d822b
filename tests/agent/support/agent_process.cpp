#include "tests/agent/support/agent_process.hpp"

#include "agent/executor/local/local_executor.hpp"
#include "core/base/argument_pointers.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent::test {
namespace {

int wait_for_end(int pid)
{
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

} // namespace

AgentProcess::~AgentProcess()
{
    if (pid_ > 0) stop(SIGKILL);
    LocalExecutor executor({.attempts = state_dir() / "attempts", .supervisor = {}, .programs = {}, .user = {}});
    for (const AttemptId& id : executor.known())
        executor.end_leftovers(id);
}

int AgentProcess::spawn(std::vector<std::string> arguments) const
{
    arguments.insert(arguments.begin(), "fathom-agent");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::string log_file = (folder_.path() / "log").string();
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int pid = 0;
    const int error =
        ::posix_spawn(&pid, agent_program().c_str(), &actions, nullptr, argument_pointers(arguments).data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + agent_program().string());
    return pid;
}

int AgentProcess::call(std::vector<std::string> arguments)
{
    const int status = wait_for_end(spawn(std::move(arguments)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void AgentProcess::start()
{
    pid_ = spawn({"run", "--state-dir", state_dir().string(), "--config", config().string()});
}

void AgentProcess::signal(int number) const
{
    ::kill(pid_, number);
}

int AgentProcess::stop(int number)
{
    signal(number);
    const int status = wait_for_end(pid_);
    pid_ = 0;
    return status;
}

std::string AgentProcess::log() const
{
    const Result<std::string> text = read_file(folder_.path() / "log");
    return text ? *text : std::string();
}

} // namespace fathom::agent::test
