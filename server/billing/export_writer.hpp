#pragma once

#include "core/base/sha256.hpp"
#include "core/model/export_file.hpp"
#include "core/net/http.hpp"
#include "server/api/compute_pool.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace fathom::server {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file of a folder that takes its name when it is complete. Until then it is "<name>.partial", locked against other
/// processes; one that is given up is removed. Blocks; not thread-safe.
class PartialFile {
  public:
    /// Who may read, beside us, is whoever is of the group: that of the folder that the settings name, if that hands
    /// its group on (set-group-ID).
    static constexpr unsigned kMode = 0640;

    /// Makes the folder where it is missing.
    /// @error kUnavailable  it cannot be written, or another process is writing it; the detail says which.
    static Result<std::unique_ptr<PartialFile>> open(const std::filesystem::path& path);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    std::FILE* file() const { return file_.get(); }
    /// Flushes it to the disk and gives it its name, in place of what had that. @error kUnavailable
    Result<void> complete();

  private:
    PartialFile(std::filesystem::path path, File file) : path_(std::move(path)), file_(std::move(file)) {}

    std::filesystem::path path_;
    File file_;
    bool is_complete_ = false;
};

/// A file without a name in `folder`: it is gone with the process. @error kUnavailable
Result<File> open_scratch_file(const std::filesystem::path& folder);

/// Takes what an export streams into a file, with its size and SHA-256. Writes on threads of `compute`.
class ExportWriter final : public net::BodyWriter {
  public:
    ExportWriter(std::FILE* file, ComputePool& compute) : file_(file), compute_(&compute) {}

    asio::awaitable<Result<void>> write(std::string chunk) override;
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override;

    /// After the last write: whether all of it was written. @error kUnavailable
    Result<void> finish();
    std::int64_t size_bytes() const { return size_bytes_; }
    /// After finish().
    const std::string& sha256() const { return sha256_; }

  private:
    std::FILE* file_;
    ComputePool* compute_;
    Sha256 hash_;
    std::string sha256_;
    std::int64_t size_bytes_ = 0;
    Result<void> outcome_;
};

} // namespace fathom::server
