#include "core/transfer/object_store.hpp"

#include "core/base/result.hpp"
#include "core/base/utf8.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/transfer/signed_url.hpp"
#include "core/transfer/transfer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <curl/curl.h>
#include <curl/easy.h>
#include <curl/system.h>
#include <functional>
#include <stdio.h>
#include <string>

namespace fathom {
namespace {

constexpr std::size_t kMaxAnswerBytes = 16384;

struct HeaderList {
    curl_slist* list = nullptr;
    HeaderList() = default;
    ~HeaderList() { curl_slist_free_all(list); }
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;
    void add(const std::string& header) { list = curl_slist_append(list, header.c_str()); }
};

std::size_t read_content(char* buffer, std::size_t size, std::size_t count, void* file)
{
    auto* const content = static_cast<std::FILE*>(file);
    const std::size_t bytes = std::fread(buffer, 1, size * count, content);
    return bytes == 0 && std::ferror(content) != 0 ? CURL_READFUNC_ABORT : bytes;
}

int seek_content(void* file, curl_off_t offset, int origin)
{
    return fseeko(static_cast<std::FILE*>(file), offset, origin) == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

std::size_t keep_answer(char* data, std::size_t size, std::size_t count, void* text)
{
    auto& answer = *static_cast<std::string*>(text);
    answer.append(data, std::min(size * count, kMaxAnswerBytes - std::min(kMaxAnswerBytes, answer.size())));
    return size * count;
}

int look_whether_to_stop(void* should_stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    return (*static_cast<const std::function<bool()>*>(should_stop))() ? 1 : 0;
}

/// The text of an element of an S3 error document; empty: it has none.
std::string element_of(const std::string& document, const std::string& name)
{
    const std::size_t begin = document.find("<" + name + ">");
    const std::size_t end = document.find("</" + name + ">");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
    const std::size_t text = begin + name.size() + 2;
    return document.substr(text, end - text);
}

Result<void> store_refusal(long status, const std::string& answer)
{
    constexpr std::size_t kMaxTextBytes = 300;
    std::string text = "the object store answered " + std::to_string(status);
    const std::string code = element_of(answer, "Code");
    if (!code.empty() && is_utf8(answer)) text += ", " + code + ": " + element_of(answer, "Message");
    return Error{status >= 500 ? Errc::kUnavailable : Errc::kInvalid, std::string(utf8_prefix(text, kMaxTextBytes))};
}

/// A request that is signed as the store wants it. The texts are copied by curl.
void sign(CURL* curl, const ObjectStoreAccess& access)
{
    const std::string provider = "aws:amz:" + access.region + ":s3";
    if (!access.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, access.ca_file.c_str());
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, provider.c_str());
    curl_easy_setopt(curl, CURLOPT_USERNAME, access.access_key.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, access.secret_key.c_str());
}

/// @param headers  must live until the request is done.
void send_content(CURL* curl, const ObjectUpload& upload, const HeaderList& headers)
{
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload.size_bytes));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &read_content);
    curl_easy_setopt(curl, CURLOPT_READDATA, upload.content);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, &seek_content);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, upload.content);
}

/// @param should_stop  must live until the request is done.
void stop_when_asked(CURL* curl, const std::function<bool()>& should_stop)
{
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &look_whether_to_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &should_stop);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/// @return the status that the store answered, and what it wrote. @error kUnavailable  it was not reached.
/// @param cause  the buffer of make_transfer()
Result<long> perform(CURL* curl, const char* cause, std::string& answer)
{
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &keep_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK)
        return Error{Errc::kUnavailable, "the object store cannot be reached: " +
                                             std::string(cause[0] != '\0' ? cause : curl_easy_strerror(code))};
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

} // namespace

Result<void> put_object(const ObjectStoreAccess& access, const ObjectUpload& upload,
                        const std::function<bool()>& should_stop)
{
    if (upload.size_bytes > kMaxUploadBytes)
        return Error{Errc::kInvalid, "an object store takes 5 GB in one piece: export by project or by center"};
    if (const Result<void> started = start_curl(); !started) return started;
    std::array<char, CURL_ERROR_SIZE> cause{};
    const std::string url = access.endpoint + encoded_path("/" + upload.bucket + "/" + upload.key);
    const CurlHandle handle = make_transfer(url, false, cause.data());
    if (!handle) return Error{Errc::kUnavailable, "no memory for a connection"};
    CURL* const curl = handle.get();

    HeaderList headers;
    headers.add("Content-Type: " + upload.content_type);
    headers.add("x-amz-content-sha256: " + upload.sha256);
    sign(curl, access);
    send_content(curl, upload, headers);
    stop_when_asked(curl, should_stop);
    std::string answer;
    const Result<long> status = perform(curl, cause.data(), answer);
    if (!status) return status.error();
    if (*status < 200 || *status >= 300) return store_refusal(*status, answer);
    return {};
}

} // namespace fathom
