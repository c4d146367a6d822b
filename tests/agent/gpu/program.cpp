#include "tests/agent/gpu/program.hpp"

#include "core/base/argument_pointers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kMaxTime = 120s; // machines are shared

} // namespace

Program::Program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                 const std::filesystem::path& folder)
{
    static std::atomic<int> programs{0};
    file_ = folder / ("output-" + std::to_string(++programs));
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment)
        variables.push_back(name + "=" + value);
    std::vector<std::string> words = command;
    const std::vector<char*> arguments = argument_pointers(words);
    const std::vector<char*> all_variables = argument_pointers(variables);
    const int output = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    const pid_t test = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
        // A test that is ended by force leaves nothing behind, such as a kernel of an hour.
        if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != test) ::_exit(127);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        ::execve(arguments[0], arguments.data(), all_variables.data());
        ::_exit(127);
    }
    ::close(output);
}

Program::~Program()
{
    if (is_reaped_) return;
    kill(SIGKILL);
    ::waitpid(process_, &status_, 0);
}

bool Program::has_ended()
{
    if (!is_reaped_) is_reaped_ = ::waitpid(process_, &status_, WNOHANG) == process_;
    return is_reaped_;
}

int Program::wait()
{
    const auto until = std::chrono::steady_clock::now() + kMaxTime;
    while (!has_ended()) {
        if (std::chrono::steady_clock::now() > until) {
            ADD_FAILURE() << "the program does not end; it wrote:\n" << output();
            kill(SIGKILL);
            ::waitpid(process_, &status_, 0);
            is_reaped_ = true;
            break;
        }
        std::this_thread::sleep_for(5ms);
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

void Program::kill(int signal) const
{
    ::kill(process_, signal);
}

std::string Program::output() const
{
    const std::ifstream file(file_);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool Program::wait_for_output(const std::string& text)
{
    const auto until = std::chrono::steady_clock::now() + kMaxTime;
    while (output().find(text) == std::string::npos) {
        if (has_ended() || std::chrono::steady_clock::now() > until) return output().find(text) != std::string::npos;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

} // namespace fathom::gpu
