/// Operators that move bytes: system calls and libcurl, as a programmer would use them.
#include "tests/bench/bare_operators.hpp"

#include <cstdlib>
#include <cstring>
#include <curl/curl.h>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::bench {
namespace {

constexpr std::size_t kFileSize = 8388608;
constexpr std::size_t kRequest = 1 << 20;

/// A file past the page cache where that is possible, as `dd oflag=direct conv=fsync bs=1M` does it.
class BareFile final : public BareOperator {
  public:
    enum class Direction { kRead, kWrite };

    explicit BareFile(Direction direction) : direction_(direction)
    {
        std::string name = "bare-file-XXXXXX";
        file_ = mkostemp(name.data(), O_DIRECT);
        if (file_ < 0) file_ = mkostemp(name.replace(10, 6, "XXXXXX").data(), 0);
        unlink(name.c_str());
        content_ =
            static_cast<char*>(mmap(nullptr, kFileSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::memset(content_, 1, kFileSize);
        write_once();
    }
    ~BareFile() override
    {
        munmap(content_, kFileSize);
        close(file_);
    }
    BareFile(const BareFile&) = delete;
    BareFile& operator=(const BareFile&) = delete;

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            direction_ == Direction::kRead ? read_once() : write_once();
    }

  private:
    void read_once()
    {
        posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
        lseek(file_, 0, SEEK_SET);
        for (std::size_t at = 0; at < kFileSize; at += kRequest) {
            if (read(file_, content_ + at, kRequest) != static_cast<ssize_t>(kRequest)) std::abort();
        }
    }

    void write_once()
    {
        if (ftruncate(file_, 0) != 0) std::abort();
        lseek(file_, 0, SEEK_SET);
        for (std::size_t at = 0; at < kFileSize; at += kRequest) {
            if (write(file_, content_ + at, kRequest) != static_cast<ssize_t>(kRequest)) std::abort();
        }
        if (fsync(file_) != 0) std::abort();
    }

    Direction direction_;
    int file_;
    char* content_;
};

/// The probe's own data site, fetched with libcurl's simplest calls.
class BareFetch final : public BareOperator {
  public:
    explicit BareFetch(const std::string& base) : handle_(curl_easy_init())
    {
        curl_easy_setopt(handle_, CURLOPT_URL, (base + "?bytes=1048576&seed=1").c_str());
        curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &BareFetch::append);
        curl_easy_setopt(handle_, CURLOPT_WRITEDATA, &content_);
    }
    ~BareFetch() override { curl_easy_cleanup(handle_); }
    BareFetch(const BareFetch&) = delete;
    BareFetch& operator=(const BareFetch&) = delete;

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i) {
            content_.clear();
            if (curl_easy_perform(handle_) != CURLE_OK || content_.size() != 1048576) std::abort();
        }
    }

  private:
    static std::size_t append(const char* data, std::size_t, std::size_t size, void* context)
    {
        static_cast<std::string*>(context)->append(data, size);
        return size;
    }

    CURL* handle_;
    std::string content_;
};

} // namespace

std::unique_ptr<BareOperator> make_bare_transfer(std::string_view id)
{
    if (id == "file_read") return std::make_unique<BareFile>(BareFile::Direction::kRead);
    if (id == "file_write") return std::make_unique<BareFile>(BareFile::Direction::kWrite);
    const char* const url = std::getenv("FATHOM_FETCH_URL");
    if (id == "network_fetch" && url != nullptr) return std::make_unique<BareFetch>(url);
    return nullptr;
}

} // namespace fathom::bench
