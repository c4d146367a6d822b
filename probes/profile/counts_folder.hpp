#pragma once

#include "core/base/result.hpp"
#include "probes/profile/counts_file.hpp"

#include <string>
#include <vector>

namespace fathom::profile {

/// A private folder in memory with the file that the program's processes count into; gone with this object.
class CountsFolder {
  public:
    /// Where no folder has room for the file, the counts are this process's own and stay zero: see not_counted().
    /// @error kUnavailable  there is not even memory for them.
    static Result<CountsFolder> make();
    ~CountsFolder();
    CountsFolder(CountsFolder&& other) noexcept;
    CountsFolder& operator=(CountsFolder&&) = delete;
    CountsFolder(const CountsFolder&) = delete;
    CountsFolder& operator=(const CountsFolder&) = delete;

    const Counts& counts() const { return *counts_; }

    /// Why no program can count into it; empty when programs can.
    const std::string& not_counted() const { return not_counted_; }

    /// The environment of a program that shall be counted: the caller's, with what makes the loader load the
    /// interposer, after whatever the user has it load.
    std::vector<std::string> environment(const std::string& interposer) const;

  private:
    CountsFolder() = default;
    std::string path_;
    std::string not_counted_;
    Counts* counts_ = nullptr;
};

/// The caller's environment, for a program that shall not be counted.
std::vector<std::string> own_environment();

/// Where the interposer lies: beside this program.
/// @error kUnavailable  it is missing there.
Result<std::string> find_interposer();

/// The folder of this program.
std::string own_folder();

} // namespace fathom::profile
