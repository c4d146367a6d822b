#pragma once

#include <chrono>
#include <string>

namespace fathom::server {

/// Tells people on standard error how far long work is: at a terminal in one line that changes, else in a line every
/// few seconds.
class Progress {
  public:
    /// `title` begins each line.
    explicit Progress(std::string title);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// May be called as often as one likes: it writes when it is time.
    void tell(const std::string& text);

  private:
    std::string title_;
    bool is_terminal_;
    bool has_open_line_ = false;
    std::chrono::steady_clock::time_point told_at_;
};

} // namespace fathom::server
