#pragma once

#include "core/base/open_file.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// SIGINT, SIGTERM and SIGHUP as something to look at, for a command that tidies up before it ends. From its
/// construction on they do nothing else; construct it before there are threads.
class StopRequest {
  public:
    StopRequest();

    /// To poll for reading, with seen().
    int descriptor() const { return signals_.number(); }
    /// The signal that has come, the first of them. Does not wait.
    std::optional<int> seen();

  private:
    OpenFile signals_;
    std::optional<int> first_;
};

} // namespace fathom::server
