#pragma once

#include <atomic>
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

/// While it lives, the first Ctrl-C only sets a flag, for work that can stop and tell how far it came; the second ends
/// the process. One at a time, and not together with an InterruptNotice.
class InterruptFlag {
  public:
    InterruptFlag();
    ~InterruptFlag();
    InterruptFlag(const InterruptFlag&) = delete;
    InterruptFlag& operator=(const InterruptFlag&) = delete;

    const std::atomic<bool>& is_set() const;
};

} // namespace fathom::cli
