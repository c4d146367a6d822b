#include "agent/stage/stage_inputs.hpp"

#include "agent/stage/staged_file.hpp"
#include "core/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr long kConnectLimit_s = 30;
constexpr long kMinBytesPerSecond = 1024; ///< slower than that for kSlowFor_s, a transfer is tried again
constexpr long kSlowFor_s = 60;
constexpr long kMaxRedirects = 5;
constexpr std::chrono::milliseconds kLongestPause{60'000};
constexpr std::size_t kBlockBytes = 1UL << 16U;

constexpr long kOk = 200;
constexpr long kPartialContent = 206;
constexpr long kRequestTimeout = 408;
constexpr long kRangeNotSatisfiable = 416;
constexpr long kTooManyRequests = 429;
constexpr long kServerErrors = 500;

using CurlHandle = std::unique_ptr<CURL, void (*)(CURL*)>;

/// One transfer into a file, from where the file ends.
struct Transfer {
    CURL* curl{};
    StagedFile* file{};
    bool has_begun = false; ///< with the content
};

/// libcurl's: a return value other than the size given ends the transfer.
std::size_t receive(const char* data, std::size_t /*one*/, std::size_t size, void* context)
{
    Transfer& transfer = *static_cast<Transfer*>(context);
    long status = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != kOk && status != kPartialContent) return size; // what a server says of an error is of no use here
    if (!std::exchange(transfer.has_begun, true) && status == kOk && transfer.file->bytes() > 0) {
        if (!transfer.file->restart()) return 0; // it sends all from the beginning
    }
    return transfer.file->add({data, size}) ? size : 0;
}

void set_options(CURL* curl, const JobInput& input, const StagingRule& rule, Transfer& transfer, char* cause)
{
    const char* const schemes = rule.takes_http ? "http,https" : "https";
    curl_easy_setopt(curl, CURLOPT_URL, input.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, schemes);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectLimit_s);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kMinBytesPerSecond);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowFor_s);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "fathom-stage");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, cause);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    // Not CURLOPT_RESUME_FROM_LARGE, which refuses a server that sends all.
    if (transfer.file->bytes() > 0)
        curl_easy_setopt(curl, CURLOPT_RANGE, (std::to_string(transfer.file->bytes()) + "-").c_str());
}

/// What another try cannot mend.
bool is_final(CURLcode code)
{
    constexpr std::array kFinal{CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_PEER_FAILED_VERIFICATION,
                                CURLE_TOO_MANY_REDIRECTS};
    return std::find(kFinal.begin(), kFinal.end(), code) != kFinal.end();
}

Error refusal(long status)
{
    const bool may_pass = status >= kServerErrors || status == kRequestTimeout || status == kTooManyRequests ||
                          status == kRangeNotSatisfiable;
    return {may_pass ? Errc::kUnavailable : Errc::kInvalid, "the server answered " + std::to_string(status)};
}

/// One try.
Result<void> fetch(const JobInput& input, const StagingRule& rule, StagedFile& file)
{
    const CurlHandle handle(curl_easy_init(), &curl_easy_cleanup);
    if (!handle) return Error{Errc::kUnavailable, "no memory for a connection"};
    Transfer transfer{.curl = handle.get(), .file = &file};
    std::array<char, CURL_ERROR_SIZE> cause{};
    set_options(handle.get(), input, rule, transfer, cause.data());
    const CURLcode code = curl_easy_perform(handle.get());
    if (file.problem()) return *file.problem();
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status == kRangeNotSatisfiable && !file.restart()) return *file.problem();
    if (status != 0 && status != kOk && status != kPartialContent) return refusal(status);
    if (code == CURLE_OK) {
        // An empty answer brings no bytes to start anew with.
        if (status == kOk && !transfer.has_begun && file.bytes() > 0 && !file.restart()) return *file.problem();
        return {};
    }
    // libcurl's words may hold the URL that a redirect led to.
    const bool is_told = cause[0] != '\0' && std::string_view(cause.data()).find("://") == std::string_view::npos;
    return Error{is_final(code) ? Errc::kInvalid : Errc::kUnavailable,
                 is_told ? cause.data() : curl_easy_strerror(code)};
}

Result<void> fetch_with_tries(const JobInput& input, const StagingRule& rule, StagedFile& file,
                              const StagingTries& tries)
{
    std::chrono::milliseconds pause = tries.first_pause;
    for (int i = 1;; ++i) {
        const Result<void> fetched = fetch(input, rule, file);
        if (fetched || fetched.error().code == Errc::kInvalid) return fetched;
        if (i >= tries.most)
            return Error{fetched.error().code,
                         fetched.error().detail + ", at the last of " + std::to_string(i) + " tries"};
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
        // Without a checksum nobody would see that the source has changed between its parts.
        if (input.sha256.empty() && file.bytes() > 0 && !file.restart()) return *file.problem();
    }
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder)
{
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return end == folder.end() && rest != path.end();
}

Result<void> copy_file(const JobInput& input, const StagingRule& rule, StagedFile& file)
{
    constexpr std::string_view kScheme = "file://";
    const std::string path = input.url.substr(kScheme.size());
    const OpenFile source(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (source.number() < 0) return Error{Errc::kInvalid, "it cannot be opened: " + error_text(errno)};
    // By what was opened, so that a link does not lead out of the folders.
    std::error_code error;
    const std::filesystem::path real =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(source.number()), error);
    const bool is_allowed =
        !error && std::any_of(rule.folders.begin(), rule.folders.end(), [&](const std::filesystem::path& folder) {
            return is_below(real, std::filesystem::weakly_canonical(folder, error));
        });
    if (!is_allowed)
        return Error{Errc::kInvalid, "it is below none of the folders that this center gives inputs from "
                                     "(input_folders)"};
    struct stat facts{};
    if (::fstat(source.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return Error{Errc::kInvalid, "it is not a plain file"};
    std::string block(kBlockBytes, '\0');
    for (;;) {
        const ssize_t size = ::read(source.number(), block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Error{Errc::kUnavailable, "it cannot be read: " + error_text(errno)};
        if (size == 0) return {};
        if (!file.add({block.data(), static_cast<std::size_t>(size)})) return *file.problem();
    }
}

Result<void> stage_input(const JobInput& input, const StagingRule& rule, int work, const StagingTries& tries)
{
    if (input.url.starts_with("http://") && !rule.takes_http)
        return Error{Errc::kInvalid, "this center takes no inputs by http, only by https (input_http)"};
    Result<StagedFile> file = StagedFile::make(work, input);
    if (!file) return file.error();
    const Result<void> filled =
        input.url.starts_with("file://") ? copy_file(input, rule, *file) : fetch_with_tries(input, rule, *file, tries);
    return filled ? file->check() : filled;
}

} // namespace

Result<void> stage_inputs(const std::vector<JobInput>& inputs, const StagingRule& rule,
                          const std::filesystem::path& work, const StagingTries& tries)
{
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) return Error{Errc::kUnavailable, "libcurl does not start"};
    const OpenFile folder(::open(work.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0) return Error{Errc::kUnavailable, "cannot open the working folder: " + error_text(errno)};
    for (const JobInput& input : inputs) {
        if (const Result<void> staged = stage_input(input, rule, folder.number(), tries); !staged)
            return Error{staged.error().code, shown_url(input.url) + ": " + staged.error().detail};
    }
    return {};
}

} // namespace fathom::agent
