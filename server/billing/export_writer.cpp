#include "server/billing/export_writer.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::server {
namespace {

Error cannot(const char* step, const std::filesystem::path& path, int number)
{
    return {Errc::kUnavailable, std::string("cannot ") + step + " " + path.string() + ": " + error_text(number)};
}

std::filesystem::path partial_of(const std::filesystem::path& path)
{
    return path.string() + ".partial";
}

/// Whether the open file has this name, and not another process given it another one since.
bool is_named(int number, const std::filesystem::path& path)
{
    struct stat opened{};
    struct stat named{};
    return ::fstat(number, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/// Takes the file of this number over.
File to_file(OpenFile opened)
{
    File file(::fdopen(opened.number(), "w+b"), &std::fclose);
    if (file) opened.release();
    return file;
}

} // namespace

Result<std::unique_ptr<PartialFile>> PartialFile::open(const std::filesystem::path& path)
{
    namespace fs = std::filesystem;
    std::error_code failed;
    const bool is_new = fs::create_directories(path.parent_path(), failed);
    // Whatever the umask.
    if (is_new && !failed)
        fs::permissions(path.parent_path(), fs::perms::group_read | fs::perms::group_exec, fs::perm_options::add,
                        failed);
    if (failed) return cannot("make the folder", path.parent_path(), failed.value());
    const std::filesystem::path partial = partial_of(path);
    OpenFile opened(::open(partial.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (opened.number() < 0) return cannot("write", partial, errno);
    if (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0 || !is_named(opened.number(), partial))
        return Error{Errc::kUnavailable, partial.string() + " is being written by another process"};
    if (::ftruncate(opened.number(), 0) != 0 || ::fchmod(opened.number(), kMode) != 0)
        return cannot("write", partial, errno);
    File file = to_file(std::move(opened));
    if (!file) return cannot("write", partial, errno);
    return std::unique_ptr<PartialFile>(new PartialFile(path, std::move(file)));
}

PartialFile::~PartialFile()
{
    if (!is_complete_) ::unlink(partial_of(path_).c_str());
}

Result<void> PartialFile::complete()
{
    const std::filesystem::path partial = partial_of(path_);
    if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) return cannot("flush", partial, errno);
    if (::rename(partial.c_str(), path_.c_str()) != 0) return cannot("rename", partial, errno);
    is_complete_ = true;
    return {};
}

Result<File> open_scratch_file(const std::filesystem::path& folder)
{
    OpenFile opened(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (opened.number() < 0) {
        // Not every file system has files without a name.
        std::string name = (folder / "export-XXXXXX").string();
        opened = OpenFile(::mkostemp(name.data(), O_CLOEXEC));
        if (opened.number() < 0) return cannot("write a file in", folder, errno);
        ::unlink(name.c_str());
    }
    File file = to_file(std::move(opened));
    if (!file) return cannot("write a file in", folder, errno);
    return file;
}

asio::awaitable<Result<void>> ExportWriter::write(std::string chunk)
{
    auto append = [this, &chunk]() -> Result<void> {
        hash_.add(chunk);
        if (std::fwrite(chunk.data(), 1, chunk.size(), file_) != chunk.size())
            return Error{Errc::kUnavailable, "cannot write the file: " + error_text(errno)};
        return {};
    };
    outcome_ = co_await compute_->run("", std::move(append));
    if (outcome_) size_bytes_ += static_cast<std::int64_t>(chunk.size());
    co_return outcome_;
}

asio::awaitable<Result<void>> ExportWriter::sleep(std::chrono::milliseconds duration)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, duration);
    co_await timer.async_wait(asio::use_awaitable);
    co_return Result<void>();
}

Result<void> ExportWriter::finish()
{
    if (!outcome_) return outcome_;
    if (std::fflush(file_) != 0) return Error{Errc::kUnavailable, "cannot write the file: " + error_text(errno)};
    sha256_ = hash_.hex();
    return {};
}

} // namespace fathom::server
