#include "core/transfer/download.hpp"

#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/transfer/part_file.hpp"
#include "core/transfer/transfer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <curl/curl.h>
#include <curl/easy.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdio.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace fathom {
namespace {

constexpr long kMaxRedirects = 5;
constexpr long kOk = 200;
constexpr long kPartialContent = 206;

/// One try, for libcurl's callback.
struct Receipt {
    CURL* curl{};
    PartFile* part{};
    const std::function<void(std::int64_t)>* on_bytes{};
    bool has_begun = false; ///< with the content
};

/// libcurl's: a return value other than the size given ends the transfer.
std::size_t take_bytes(const char* data, std::size_t /*one*/, std::size_t size, void* context)
{
    Receipt& receipt = *static_cast<Receipt*>(context);
    const long status = status_of(receipt.curl);
    if (status != kOk && status != kPartialContent) return size; // what a server says of an error is of no use here
    if (!std::exchange(receipt.has_begun, true) && status == kOk && receipt.part->bytes() > 0) {
        if (!receipt.part->restart()) return 0; // it sends all from the beginning
    }
    if (!receipt.part->add({data, size})) return 0;
    (*receipt.on_bytes)(receipt.part->bytes());
    return size;
}

Result<void> fetch_rest(const std::string& url, PartFile& part, const std::function<void(std::int64_t)>& on_bytes)
{
    std::array<char, CURL_ERROR_SIZE> cause{};
    const CurlHandle handle = make_transfer(url, url.starts_with("http://"), cause.data());
    if (!handle) return Error{Errc::kUnavailable, "no memory for a connection"};
    Receipt receipt{.curl = handle.get(), .part = &part, .on_bytes = &on_bytes};
    const std::string range = std::to_string(part.bytes()) + "-";
    curl_easy_setopt(handle.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_MAXREDIRS, kMaxRedirects);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &take_bytes);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &receipt);
    // Not CURLOPT_RESUME_FROM_LARGE, which refuses a server that sends all.
    if (part.bytes() > 0) curl_easy_setopt(handle.get(), CURLOPT_RANGE, range.c_str());
    const CURLcode code = curl_easy_perform(handle.get());
    if (part.problem()) return *part.problem();
    const long status = status_of(handle.get());
    if (status == kRangeNotSatisfiable && !part.restart()) return *part.problem();
    if (status != 0 && status != kOk && status != kPartialContent) return refusal(status);
    if (code != CURLE_OK) return failure(code, cause.data());
    return {};
}

Result<void> fetch_all(const Download& wanted, const TransferTries& tries, PartFile& part, const FetchRest& fetch)
{
    const auto attempt = [&](int) -> Result<void> {
        if (part.bytes() == wanted.size_bytes) return {};
        Result<void> done = fetch(part);
        if (done && part.bytes() < wanted.size_bytes)
            done = Error{Errc::kInvalid, "it has " + std::to_string(part.bytes()) + " of the " +
                                             std::to_string(wanted.size_bytes) + " bytes expected"};
        return done;
    };
    // A link that is slow, and cut off for that, brings a large file in many tries. One that sends the same beginning
    // again and again brings none.
    std::int64_t furthest = part.bytes();
    const auto got_on = [&] { return part.bytes() > std::exchange(furthest, std::max(furthest, part.bytes())); };
    return with_tries(tries, attempt, got_on);
}

/// Gives the file its name, which nobody else's file may have by then.
Result<void> name_file(const PartFile& part, const std::filesystem::path& file)
{
    if (::fsync(part.number()) != 0) return not_written(errno);
    const std::filesystem::path from = part_of(file);
    if (::link(from.c_str(), file.c_str()) != 0) {
        if (errno == EEXIST) return Error{Errc::kConflict, file.string() + " is there already"};
        // File systems without links.
        if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return {};
        return errno == EEXIST ? Error{Errc::kConflict, file.string() + " is there already"} : not_written(errno);
    }
    ::unlink(from.c_str());
    return {};
}

/// What was left by an earlier call, and nobody else changes it, now or later.
Result<void> check_is_ours(const OpenFile& file, const std::filesystem::path& path)
{
    struct stat facts{};
    if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() ||
        facts.st_nlink != 1)
        return Error{Errc::kInvalid, path.string() + " is not a plain file of yours: remove it"};
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
        return Error{Errc::kConflict, "another download writes " + path.string()};
    return {};
}

} // namespace

std::filesystem::path part_of(const std::filesystem::path& file)
{
    std::filesystem::path part = file;
    part += ".part";
    return part;
}

Result<void> download(const Download& wanted, const TransferTries& tries,
                      const std::function<void(std::int64_t)>& on_bytes)
{
    if (const Result<void> started = start_curl(); !started) return started;
    return download_by(wanted, tries, [&](PartFile& part) { return fetch_rest(wanted.url, part, on_bytes); });
}

Result<void> download_by(const Download& wanted, const TransferTries& tries, const FetchRest& fetch)
{
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(wanted.file, error)))
        return Error{Errc::kConflict, wanted.file.string() + " is there already"};
    OpenFile file(::open(part_of(wanted.file).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (file.number() < 0)
        return Error{Errc::kInvalid, part_of(wanted.file).string() + " cannot be opened: " + error_text(errno)};
    if (Result<void> ours = check_is_ours(file, part_of(wanted.file)); !ours) return ours;
    PartFile part(std::move(file), wanted.size_bytes);
    if (!part.read_earlier()) return *part.problem();
    // What an earlier call has left may be of another file, which shows when all is there: then once more, anew.
    for (bool is_continued = part.bytes() > 0;; is_continued = false) {
        if (Result<void> fetched = fetch_all(wanted, tries, part, fetch); !fetched) return fetched;
        const std::string digest = part.sha256();
        if (digest == wanted.sha256) return name_file(part, wanted.file);
        if (is_continued && part.restart()) continue;
        ::unlink(part_of(wanted.file).c_str()); // going on with it would help nobody
        return Error{Errc::kInvalid, "its SHA-256 is " + digest + ", not " + wanted.sha256};
    }
}

} // namespace fathom
