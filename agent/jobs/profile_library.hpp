#pragma once

#include "core/base/result.hpp"
#include "schema/link/messages.hpp"

#include <filesystem>
#include <string>

namespace fathom::agent {

/// Keeps in a file the operators that profiled jobs are matched with (M3), as the metascheduler said them last, so that
/// a restart of the agent does not have them sent again. Runs on: the agent's working thread.
class ProfileLibrary {
  public:
    explicit ProfileLibrary(std::filesystem::path file) : file_(std::move(file)) {}

    /// Reads the file. One that cannot be read counts as none, and is logged: the library comes again.
    void load();

    /// By which the metascheduler knows it; empty: there is none.
    const std::string& digest() const { return digest_; }
    /// For RunOrder::library: the manifests that this program can read. Empty: there are none of them.
    const std::string& text() const { return text_; }

    /// Takes another library.
    /// @error kUnavailable  it could not be stored; the one before stays.
    Result<void> take(const link::MatchLibrary& library);

  private:
    void use(const link::MatchLibrary& library);

    std::filesystem::path file_;
    std::string digest_;
    std::string text_;
};

} // namespace fathom::agent
