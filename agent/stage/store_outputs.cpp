#include "agent/stage/store_outputs.hpp"

#include "agent/stage/output_file.hpp"
#include "agent/stage/replaced_file.hpp"
#include "core/base/error_text.hpp"
#include "core/model/data_location.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kPieceBytes = 1UL << 16U;
constexpr std::string_view kFileScheme = "file://";
constexpr std::int64_t kMinBytesToAsk = 1 << 20U;
constexpr long kFirstSuccess = 200;
constexpr long kFirstRedirect = 300;

/// libcurl's: how much of the block was filled.
std::size_t fill(char* block, std::size_t one, std::size_t count, void* context)
{
    return static_cast<OutputFile*>(context)->read({block, one * count}).value_or(CURL_READFUNC_ABORT);
}

/// libcurl's; what a server says of an upload is of no use here.
std::size_t ignore(const char* /*data*/, std::size_t one, std::size_t size, void* /*context*/)
{
    return one * size;
}

/// Header fields of a request.
using CurlHeaders = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

/// libcurl asks before each body whether it is welcome, and waits a second for servers that do not answer: worth it
/// only for what takes longer to send in vain.
CurlHeaders headers_for(const OutputFile& file)
{
    const bool asks_first = file.size_bytes() >= kMinBytesToAsk;
    return {asks_first ? nullptr : curl_slist_append(nullptr, "Expect:"), &curl_slist_free_all};
}

/// One try. Redirects are not followed: a signature is for one place, and so is what it lets in.
Result<void> send(const std::string& url, const StagingRule& rule, OutputFile& file)
{
    std::array<char, CURL_ERROR_SIZE> cause{};
    const CurlHandle handle = make_transfer(url, rule.sends_http, cause.data());
    if (!handle) return Error{Errc::kUnavailable, "no memory for a connection"};
    const CurlHeaders headers = headers_for(file);
    curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(file.size_bytes()));
    curl_easy_setopt(handle.get(), CURLOPT_READFUNCTION, &fill);
    curl_easy_setopt(handle.get(), CURLOPT_READDATA, &file);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &ignore);
    const CURLcode code = curl_easy_perform(handle.get());
    if (file.problem()) return *file.problem();
    const long status = status_of(handle.get());
    // A server that has answered need not have listened to the end.
    if (status >= kFirstRedirect) return refusal(status);
    if (code != CURLE_OK) return failure(code, cause.data());
    if (status < kFirstSuccess) return Error{Errc::kUnavailable, "the server gave no answer"};
    if (!file.is_complete()) return Error{Errc::kUnavailable, "the server did not listen to the end"};
    return {};
}

Result<void> send_with_tries(const JobOutput& output, const StagingRule& rule, OutputFile& file,
                             const TransferTries& tries)
{
    const Result<std::string> url = transfer_url(rule, "PUT", output.url);
    if (!url) return url.error();
    if (url->starts_with("http://") && !rule.sends_http)
        return Error{Errc::kInvalid, "this center sends no outputs by http, only by https (output_http)"};
    return with_tries(tries, [&](int number) -> Result<void> {
        if (number > 1 && !file.restart()) return *file.problem();
        return send(*url, rule, file);
    });
}

Result<void> copy(const JobOutput& output, const StagingRule& rule, OutputFile& file)
{
    Result<ReplacedFile> copy = ReplacedFile::make(output.url.substr(kFileScheme.size()), rule.output_folders);
    if (!copy) return copy.error();
    std::string block(kPieceBytes, '\0');
    for (;;) {
        const std::optional<std::size_t> size = file.read(block);
        if (!size) return *file.problem();
        if (*size == 0) return copy->put();
        if (Result<void> added = copy->add({block.data(), *size}); !added) return added;
    }
}

Result<StoredOutput> store(const JobOutput& output, const StagingRule& rule, int work, const TransferTries& tries)
{
    Result<OutputFile> file = OutputFile::open(work, output);
    if (!file) return file.error();
    const Result<void> done =
        output.url.starts_with(kFileScheme) ? copy(output, rule, *file) : send_with_tries(output, rule, *file, tries);
    if (!done) return done.error();
    return file->summary();
}

Error told_of(const JobOutput& output, const Error& error)
{
    return {error.code, output.path + " to " + shown_url(output.url) + ": " + error.detail};
}

} // namespace

Result<void> check_grants(const std::vector<JobOutput>& outputs, const StagingRule& rule)
{
    for (const JobOutput& output : outputs) {
        const Result<std::string> url = transfer_url(rule, "PUT", output.url);
        if (!url) return told_of(output, url.error());
    }
    return {};
}

Result<void> store_outputs(const std::vector<JobOutput>& outputs, const StagingRule& rule,
                           const std::filesystem::path& work, std::vector<StoredOutput>& stored,
                           const TransferTries& tries)
{
    if (const Result<void> started = start_curl(); !started) return started;
    const OpenFile folder(::open(work.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0) return Error{Errc::kUnavailable, "cannot open the working folder: " + error_text(errno)};
    for (const JobOutput& output : outputs) {
        Result<StoredOutput> done = store(output, rule, folder.number(), tries);
        if (!done) return told_of(output, done.error());
        stored.push_back(std::move(*done));
    }
    return {};
}

} // namespace fathom::agent
