#include "core/transfer/part_file.hpp"

#include "core/base/error_text.hpp"
#include "core/base/result.hpp"
#include "core/base/write_all.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>

namespace fathom {
namespace {

constexpr std::size_t kReadBlockBytes = 1UL << 18U;

} // namespace

Error not_written(int number)
{
    return {Errc::kInvalid, "it cannot be written: " + error_text(number)};
}

bool PartFile::read_earlier()
{
    std::string block(kReadBlockBytes, '\0');
    for (;;) {
        const ssize_t size = ::read(file_.number(), block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 || bytes_ + size > size_bytes_) return restart();
        if (size == 0) return true;
        digest_->add({block.data(), static_cast<std::size_t>(size)});
        bytes_ += size;
    }
}

bool PartFile::add(std::string_view data)
{
    if (static_cast<std::int64_t>(data.size()) > size_bytes_ - bytes_) {
        problem_ = Error{Errc::kInvalid, "it has more than the " + std::to_string(size_bytes_) + " bytes expected"};
        return false;
    }
    if (!write_all(file_.number(), data)) {
        problem_ = not_written(errno);
        return false;
    }
    digest_->add(data);
    bytes_ += static_cast<std::int64_t>(data.size());
    return true;
}

bool PartFile::restart()
{
    if (::ftruncate(file_.number(), 0) != 0 || ::lseek(file_.number(), 0, SEEK_SET) != 0) {
        problem_ = not_written(errno);
        return false;
    }
    digest_ = std::make_unique<Sha256>();
    bytes_ = 0;
    return true;
}

} // namespace fathom
