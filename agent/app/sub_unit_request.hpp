#pragma once

#include "schema/link/messages.hpp"

#include <filesystem>
#include <optional>

namespace fathom::agent {

/// How an operator of the center asks to give up or to gain sub-units (R8): a file in the agent's folder (AgentFolder),
/// which the running agent takes within a second, or the next one when it starts.
class SubUnitRequestFile {
  public:
    explicit SubUnitRequestFile(const std::filesystem::path& folder) : path_(folder / "sub-unit-request") {}

    /// @error kUnavailable  the folder cannot be written to.
    Result<void> leave(const link::SubUnitRequest& request) const;
    /// A request that waits; empty when none does. Blocks for a look at the folder.
    /// @error kInvalid  the file holds something else.
    std::optional<Result<link::SubUnitRequest>> find() const;
    void remove() const;

  private:
    std::filesystem::path path_;
};

/// `fathom-agent request-sub-units`: asks to give up or to gain sub-units.
/// @return the exit code: 0 done, 1 failed (the reason is on standard error), 2 wrong use.
int request_sub_units_command(int argc, const char* const* argv);

} // namespace fathom::agent
