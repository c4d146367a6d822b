#include "agent/stage/staged_file.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_inside.hpp"
#include "core/base/write_all.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {

Result<StagedFile> StagedFile::make(int work, const JobInput& input)
{
    OpenFile folder;
    int parent = work;
    std::size_t begin = 0;
    for (std::size_t end = input.path.find('/'); end != std::string::npos; end = input.path.find('/', begin)) {
        Result<OpenFile> next = make_folder(parent, input.path.substr(begin, end - begin), ::geteuid(), ::getegid());
        if (!next) return Error{Errc::kInvalid, "its path " + input.path + ": " + next.error().detail};
        folder = std::move(*next);
        parent = folder.number();
        begin = end + 1;
    }
    const std::string name = input.path.substr(begin);
    OpenFile file(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.number() < 0)
        return Error{errno == EEXIST ? Errc::kInvalid : Errc::kUnavailable,
                     "its path " + input.path + ": " + error_text(errno)};
    return StagedFile(std::move(file), input);
}

bool StagedFile::add(std::string_view data)
{
    const auto size = static_cast<std::int64_t>(data.size());
    if (input_->size_bytes && size > *input_->size_bytes - bytes_) {
        problem_ = Error{Errc::kInvalid,
                         "it has more bytes than the " + std::to_string(*input_->size_bytes) + " that were declared"};
        return false;
    }
    digest_->add(data);
    if (!write_all(file_.number(), data)) {
        // The disk, or the job's share of it: another try would end as this one does.
        problem_ = Error{Errc::kInvalid, "it cannot be stored: " + error_text(errno)};
        return false;
    }
    bytes_ += size;
    if (progress_ != nullptr) progress_->fetched(bytes_);
    return true;
}

bool StagedFile::restart()
{
    if (::ftruncate(file_.number(), 0) != 0 || ::lseek(file_.number(), 0, SEEK_SET) != 0) {
        problem_ = Error{Errc::kUnavailable, "it cannot be stored: " + error_text(errno)};
        return false;
    }
    digest_ = std::make_unique<Sha256>();
    bytes_ = 0;
    problem_.reset();
    return true;
}

Result<void> StagedFile::check()
{
    if (input_->size_bytes && bytes_ != *input_->size_bytes)
        return Error{Errc::kInvalid, "it has " + std::to_string(bytes_) + " bytes, and " +
                                         std::to_string(*input_->size_bytes) + " were declared"};
    if (input_->sha256.empty()) return {};
    const std::string digest = digest_->hex();
    if (digest == input_->sha256) return {};
    return Error{Errc::kInvalid, "its SHA-256 is " + digest + ", and " + input_->sha256 + " was declared"};
}

} // namespace fathom::agent
