#include "agent/stage/stage_inputs.hpp"

#include "agent/stage/allowed_folders.hpp"
#include "agent/stage/staged_file.hpp"
#include "core/base/error_text.hpp"
#include "core/model/data_location.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr long kMaxRedirects = 5;
constexpr std::size_t kBlockBytes = 1UL << 16U;

constexpr long kOk = 200;
constexpr long kPartialContent = 206;

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

void set_options(CURL* curl, Transfer& transfer)
{
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    // Not CURLOPT_RESUME_FROM_LARGE, which refuses a server that sends all.
    if (transfer.file->bytes() > 0)
        curl_easy_setopt(curl, CURLOPT_RANGE, (std::to_string(transfer.file->bytes()) + "-").c_str());
}

/// One try.
Result<void> fetch(const std::string& url, const StagingRule& rule, StagedFile& file)
{
    std::array<char, CURL_ERROR_SIZE> cause{};
    const CurlHandle handle = make_transfer(url, rule.takes_http, cause.data());
    if (!handle) return Error{Errc::kUnavailable, "no memory for a connection"};
    Transfer transfer{.curl = handle.get(), .file = &file};
    set_options(handle.get(), transfer);
    const CURLcode code = curl_easy_perform(handle.get());
    if (file.problem()) return *file.problem();
    const long status = status_of(handle.get());
    if (status == kRangeNotSatisfiable && !file.restart()) return *file.problem();
    if (status != 0 && status != kOk && status != kPartialContent) return refusal(status);
    if (code != CURLE_OK) return failure(code, cause.data());
    // An empty answer brings no bytes to start anew with.
    if (status == kOk && !transfer.has_begun && file.bytes() > 0 && !file.restart()) return *file.problem();
    return {};
}

Result<void> fetch_with_tries(const JobInput& input, const StagingRule& rule, StagedFile& file,
                              const TransferTries& tries)
{
    const Result<std::string> url = transfer_url(rule, "GET", input.url);
    if (!url) return url.error();
    return with_tries(tries, [&](int number) -> Result<void> {
        // Without a checksum nobody would see that the source has changed between its parts.
        const bool is_anew = number > 1 && input.sha256.empty() && file.bytes() > 0;
        if (is_anew && !file.restart()) return *file.problem();
        return fetch(*url, rule, file);
    });
}

Result<void> copy_file(const JobInput& input, const StagingRule& rule, StagedFile& file)
{
    constexpr std::string_view kScheme = "file://";
    const std::string path = input.url.substr(kScheme.size());
    const OpenFile source(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (source.number() < 0) return Error{Errc::kInvalid, "it cannot be opened: " + error_text(errno)};
    // By what was opened, so that a link does not lead out of the folders.
    if (!is_below_one_of(source.number(), rule.folders))
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

/// What the center has already of an input, into its file. False: not with the content that was declared.
bool copy_cached(int cached, StagedFile& file)
{
    std::string block(kBlockBytes, '\0');
    for (off_t at = 0;;) {
        // By place: two inputs may be copied of one open file.
        const ssize_t size = ::pread(cached, block.data(), block.size(), at);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return false;
        if (size == 0) return file.check().has_value();
        if (!file.add({block.data(), static_cast<std::size_t>(size)})) return false;
        at += size;
    }
}

Result<void> check_scheme(const JobInput& input, const StagingRule& rule)
{
    const Result<std::string> url = transfer_url(rule, "GET", input.url);
    if (!url) return url.error();
    if (!url->starts_with("http://") || rule.takes_http) return {};
    return Error{Errc::kInvalid, "this center takes no inputs by http, only by https (input_http)"};
}

Result<void> fetch_whole(const JobInput& input, const StagingRule& rule, StagedFile& file, const TransferTries& tries)
{
    if (const Result<void> checked = check_scheme(input, rule); !checked) return checked;
    const Result<void> filled =
        input.url.starts_with("file://") ? copy_file(input, rule, file) : fetch_with_tries(input, rule, file, tries);
    return filled ? file.check() : filled;
}

/// One that the center has, by its name; none is open where it has none.
OpenFile open_kept(const std::filesystem::path& folder, const std::string& sha256)
{
    if (folder.empty() || !is_sha256(sha256)) return OpenFile();
    OpenFile file(::open((folder / sha256).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat facts{};
    const bool is_plain = file.number() >= 0 && ::fstat(file.number(), &facts) == 0 && S_ISREG(facts.st_mode);
    return is_plain ? std::move(file) : OpenFile();
}

/// Fetches one of which the center has no copy. An output of an earlier job may be gone by now from where it was
/// stored, too, or have been replaced there.
/// @param lack  of a copy, for people
Result<void> fetch_uncopied(const JobInput& input, const StagingRule& rule, StagedFile& file,
                            const TransferTries& tries, const std::string& lack)
{
    Result<void> fetched = fetch_whole(input, rule, file, tries);
    if (fetched || input.from.empty()) return fetched;
    return Error{fetched.error().code, lack + ", and " + shown_url(input.url) + ": " + fetched.error().detail};
}

/// Copies it where the center has it already, else fetches it.
Result<void> copy_or_fetch(const JobInput& input, const StagingOrder& order, StagedFile& file, StagedInputs& staged,
                           const TransferTries& tries)
{
    const bool may_be_here = !input.sha256.empty() && (!input.from.empty() || !input.url.starts_with("file://"));
    if (!may_be_here) return fetch_whole(input, order.rule, file, tries);
    const auto given = order.cached.find(input.sha256);
    const OpenFile kept = given == order.cached.end() ? open_kept(order.cache_folder, input.sha256) : OpenFile();
    const int here = given == order.cached.end() ? kept.number() : given->second;
    if (here < 0) return fetch_uncopied(input, order.rule, file, tries, "this center keeps no copy of it");
    if (copy_cached(here, file)) {
        staged.cached_bytes += file.bytes();
        return {};
    }
    staged.spoiled.push_back(input.sha256);
    if (!file.restart()) return *file.problem();
    return fetch_uncopied(input, order.rule, file, tries, "the copy that this center kept of it was damaged");
}

Result<void> stage_input(const JobInput& input, const StagingOrder& order, int work, StagedInputs& staged,
                         const StagingManner& manner)
{
    // What is here as a job's output need not come from where that was stored.
    if (const Result<void> checked = check_scheme(input, order.rule); !checked && input.from.empty()) return checked;
    Result<StagedFile> file = StagedFile::make(work, input);
    if (!file) return file.error();
    if (manner.progress != nullptr) file->tell(*manner.progress);
    const Result<void> done = copy_or_fetch(input, order, *file, staged, manner.tries);
    if (!done) return done;
    staged.bytes += file->bytes();
    if (manner.progress != nullptr) manner.progress->input_complete(staged.bytes);
    return done;
}

} // namespace

Result<void> stage_inputs(const StagingOrder& order, const std::filesystem::path& work, StagedInputs& staged,
                          const StagingManner& manner)
{
    if (const Result<void> started = start_curl(); !started) return started;
    const OpenFile folder(::open(work.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0) return Error{Errc::kUnavailable, "cannot open the working folder: " + error_text(errno)};
    for (const JobInput& input : order.inputs) {
        if (const Result<void> done = stage_input(input, order, folder.number(), staged, manner); !done)
            return Error{done.error().code, shown_source(input) + ": " + done.error().detail};
    }
    return {};
}

} // namespace fathom::agent
