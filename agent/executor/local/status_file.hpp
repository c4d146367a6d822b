#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// status.json as its supervisor writes it. The space is taken before the program runs: how an attempt ended must
/// find room also on a disk that it has filled.
class StatusFile {
  public:
    /// Takes the space, if there is any.
    explicit StatusFile(const AttemptFolder& folder);
    /// Without it an end could not be told.
    bool has_space() const { return has_space_; }
    ~StatusFile();
    StatusFile(const StatusFile&) = delete;
    StatusFile& operator=(const StatusFile&) = delete;

    /// Durable when true is returned; readers, who keep what they pass on, need not wait for that. May be tried again
    /// with the same text.
    bool write(const std::string& text);

  private:
    const AttemptFolder& folder_;
    std::filesystem::path reserved_;
    int file_;
    bool has_space_ = false;
    bool is_shown_ = false;
};

} // namespace fathom::agent
