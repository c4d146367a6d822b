#pragma once

#include "agent/config/staging_order.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace fathom::agent {

/// A file that takes the place of another one, or of none, once it is complete; it goes without a trace before. Others
/// may read it. Not thread-safe.
class ReplacedFile {
  public:
    /// Makes it below one of the folders, and the folders between them.
    /// @param path  absolute, without `..`
    /// @error kInvalid      it is below none of the folders.
    /// @error kUnavailable  it cannot be made.
    static Result<ReplacedFile> make(const std::filesystem::path& path,
                                     const std::vector<std::filesystem::path>& folders);
    ~ReplacedFile();
    ReplacedFile(ReplacedFile&& other) noexcept;
    ReplacedFile& operator=(ReplacedFile&&) = delete;
    ReplacedFile(const ReplacedFile&) = delete;
    ReplacedFile& operator=(const ReplacedFile&) = delete;

    /// @error kUnavailable  the disk does not take it.
    Result<void> add(std::string_view data);
    /// Puts it, as it is on the disk, where it belongs.
    /// @error kUnavailable  that cannot be done.
    Result<void> put();

  private:
    ReplacedFile(OpenFile folder, OpenFile file, std::string part_name, std::string name)
        : folder_(std::move(folder)), file_(std::move(file)), part_name_(std::move(part_name)), name_(std::move(name))
    {
    }

    OpenFile folder_;
    OpenFile file_;
    std::string part_name_; ///< while it is not complete; empty then
    std::string name_;
};

} // namespace fathom::agent
