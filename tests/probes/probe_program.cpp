#include "tests/probes/probe_program.hpp"

#include "core/base/argument_pointers.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom {

ProbeProgram::ProbeProgram()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "probe-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
}

ProbeProgram::~ProbeProgram()
{
    std::filesystem::remove_all(folder_);
}

std::string ProbeProgram::write(const std::string& name, const std::string& content) const
{
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << content;
    return path;
}

std::string ProbeProgram::read(const std::string& name) const
{
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
}

pid_t ProbeProgram::start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                          const std::string& input) const
{
    const std::string in = write("in", input);
    if (as_nobody_) std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    std::fflush(nullptr); // else the child would write our buffered output once more
    const pid_t child = fork();
    if (child != 0) return child;
    if (std::freopen(in.c_str(), "r", stdin) == nullptr) _exit(120);
    if (std::freopen((folder_ + "/out").c_str(), "w", stdout) == nullptr) _exit(121);
    if (std::freopen((folder_ + "/err").c_str(), "w", stderr) == nullptr) _exit(122);
    for (const std::string& setting : environment) {
        const std::size_t equals = setting.find('=');
        setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
    }
    std::vector<std::string> words{"fathom-probe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    constexpr unsigned kNobody = 65534;
    if (as_nobody_ && geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0 || chdir("/") != 0))
        _exit(124);
    execv(program_.c_str(), argument_pointers(words).data());
    _exit(123);
}

Outcome ProbeProgram::wait(pid_t child) const
{
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read("out"), read("err")};
}

Outcome ProbeProgram::run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                          const std::string& input) const
{
    return wait(start(arguments, environment, input));
}

Outcome ProbeProgram::run_task(const std::string& task, const std::vector<std::string>& environment) const
{
    return run({"--task", write("task.json", task)}, environment);
}

} // namespace fathom
