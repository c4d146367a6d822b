#pragma once

#include "core/base/result.hpp"

#include <array>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

struct gzFile_s; // NOLINT(readability-identifier-naming): zlib's own name

namespace fathom::simulation {

/// A file to read from its beginning to its end, inflated on the way where it is compressed with gzip. A byte order
/// mark at its beginning is left out. It ends where a line is longer than any line of a workload: what is compressed to
/// nothing must not fill the memory.
class InflatedFile : public std::streambuf {
  public:
    /// @error kNotFound  the file cannot be opened; says why.
    static Result<std::unique_ptr<InflatedFile>> open(const std::filesystem::path& path);

    /// What is read next, as far as it is in memory: up to 64 KiB, nothing only at the end. It stays to be read.
    std::string_view ahead();
    /// Why reading ended before the end of the file: the compressed data is damaged or incomplete, or a line too long;
    /// empty: it did not.
    const std::string& damage() const { return damage_; }

  protected:
    int_type underflow() override;

  private:
    struct Close {
        void operator()(gzFile_s* file) const;
    };
    explicit InflatedFile(gzFile_s* file) : file_(file) {}
    bool is_line_too_long(std::string_view block);

    std::unique_ptr<gzFile_s, Close> file_;
    std::array<char, 1UL << 16U> buffer_{};
    std::size_t line_bytes_ = 0; ///< since the last end of a line
    bool has_begun_ = false;
    std::string damage_;
};

} // namespace fathom::simulation
