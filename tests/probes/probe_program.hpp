#pragma once

#include <gtest/gtest.h>

#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom {

struct Outcome {
    int exit_code{}; ///< 1000 + n when a signal ended it
    std::string out;
    std::string err;
};

/// fathom-probe as a process, its streams in files of a temporary folder.
class ProbeProgram : public testing::Test {
  protected:
    ProbeProgram();
    ~ProbeProgram() override;

    /// Writes a file of the folder; its path.
    std::string write(const std::string& name, const std::string& content) const;
    std::string read(const std::string& name) const;

    /// `environment` holds KEY=VALUE settings on top of the test's own.
    pid_t start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                const std::string& input = "") const;
    Outcome wait(pid_t child) const;
    Outcome run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                const std::string& input = "") const;
    Outcome run_task(const std::string& task, const std::vector<std::string>& environment = {}) const;

    std::string folder_;
    std::string program_ = FATHOM_PROBE;
    bool as_nobody_ = false; ///< of no effect unless the test is root
};

} // namespace fathom
