#pragma once

#include <string>

namespace fathom::cli {

/// While it lives, Ctrl-C prints the notice on standard error and ends the process with exit code 130.
/// For waits: what was started goes on, and the notice says so. One at a time.
class InterruptNotice {
  public:
    /// @param text  with a line end; at most 500 bytes are kept.
    explicit InterruptNotice(const std::string& text);
    ~InterruptNotice();
    InterruptNotice(const InterruptNotice&) = delete;
    InterruptNotice& operator=(const InterruptNotice&) = delete;
};

} // namespace fathom::cli
