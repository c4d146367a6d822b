#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::gpu {

/// A program that runs beside the test, and ends with it, also where the test is killed; started by the thread that
/// ends last.
class Program {
  public:
    /// What it writes goes to a file of `folder`.
    Program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
            const std::filesystem::path& folder);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();

    /// Its exit code, or minus the signal that ended it. Fails the test after a minute or two.
    int wait();
    void kill(int signal) const;
    pid_t process() const { return process_; }
    /// What it wrote so far, to both of its outputs.
    std::string output() const;
    /// Until it has written that. @return false if it ended before, or did not within a minute.
    bool wait_for_output(const std::string& text);

  private:
    bool has_ended();

    pid_t process_ = -1;
    int status_ = 0;
    bool is_reaped_ = false;
    std::filesystem::path file_;
};

} // namespace fathom::gpu
