#pragma once

#include "core/base/result.hpp"

#include <array>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

struct gzFile_s;

namespace fathom::simulation {

/// A file to read from its beginning to its end, inflated on the way where it is compressed with gzip.
class InflatedFile : public std::streambuf {
  public:
    /// @error kNotFound  the file cannot be opened; says why.
    static Result<std::unique_ptr<InflatedFile>> open(const std::filesystem::path& path);

    /// What is read next, as far as it is in memory: up to 64 KiB, nothing only at the end. It stays to be read.
    std::string_view ahead();
    /// Why reading ended before the end of the file: the compressed data is damaged or incomplete; empty: it did not.
    const std::string& damage() const { return damage_; }

  protected:
    int_type underflow() override;

  private:
    struct Close {
        void operator()(gzFile_s* file) const;
    };
    explicit InflatedFile(gzFile_s* file) : file_(file) {}

    std::unique_ptr<gzFile_s, Close> file_;
    std::array<char, 1UL << 16U> buffer_{};
    std::string damage_;
};

} // namespace fathom::simulation
