#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>

namespace fathom::server {

/// A file that gets its name once it is complete and on the disk; until then it stands beside it under another,
/// readable by its owner alone, and is removed unless commit() is called.
class NewFile {
  public:
    /// @param replaces  whether a file that has the name already may go.
    /// @error kConflict     something has the name.
    /// @error kUnavailable  it cannot be made there; the detail says why.
    static Result<NewFile> make(const std::filesystem::path& path, bool replaces);

    ~NewFile();
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&&) = delete;
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// To write to.
    int number() const { return file_.number(); }
    std::uintmax_t size() const;

    /// Flushes it and gives it its name. Blocks.
    /// @error kConflict     something has got the name meanwhile.
    /// @error kUnavailable  it cannot be flushed or named.
    Result<void> commit();

  private:
    NewFile(std::filesystem::path path, bool replaces);
    Error failed(const char* step) const;

    std::filesystem::path path_;
    std::filesystem::path temporary_; ///< empty: it has its name, or is another object's
    bool replaces_;
    OpenFile file_;
};

} // namespace fathom::server
