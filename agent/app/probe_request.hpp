#pragma once

#include "core/base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace fathom::agent {

/// How an operator of the center asks for new measurements (M21): a file in the agent's folder (AgentFolder), which
/// the running agent takes within a second, or the next one when it starts.
class ProbeRequestFile {
  public:
    explicit ProbeRequestFile(const std::filesystem::path& folder) : path_(folder / "probe-request") {}

    /// @error kUnavailable  the folder cannot be written to.
    Result<void> leave(const std::string& reason) const;
    /// The reason of a request that waits; empty when none does. Blocks for a look at the folder.
    std::optional<std::string> find() const;
    void remove() const;

  private:
    std::filesystem::path path_;
};

/// Cut to what the metascheduler takes, without control characters; never empty.
std::string clean_reason(const std::string& text);

/// `fathom-agent request-probes`: asks to be measured anew.
/// @return the exit code: 0 done, 1 failed (the reason is on standard error), 2 wrong use.
int request_probes_command(int argc, const char* const* argv);

} // namespace fathom::agent
