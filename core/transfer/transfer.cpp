#include "core/transfer/transfer.hpp"

#include "core/base/result.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <curl/curl.h>
#include <curl/easy.h>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace fathom {
namespace {

constexpr long kConnectLimit_s = 30;
constexpr long kMinBytesPerSecond = 1024; ///< slower than that for kSlowFor_s, a transfer is tried again
constexpr long kSlowFor_s = 60;
constexpr std::chrono::milliseconds kMaxPause{60'000};

constexpr long kFirstFinalStatus = 200;
constexpr long kRequestTimeout = 408;
constexpr long kTooManyRequests = 429;
constexpr long kServerErrors = 500;

/// What another try cannot mend.
bool is_final(CURLcode code)
{
    constexpr std::array kFinal{CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_PEER_FAILED_VERIFICATION,
                                CURLE_TOO_MANY_REDIRECTS};
    return std::find(kFinal.begin(), kFinal.end(), code) != kFinal.end();
}

} // namespace

Result<void> start_curl()
{
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) return Error{Errc::kUnavailable, "libcurl does not start"};
    return {};
}

CurlHandle make_transfer(const std::string& url, bool allows_http, char* cause)
{
    CurlHandle handle(curl_easy_init(), &curl_easy_cleanup);
    if (!handle) return handle;
    CURL* const curl = handle.get();
    const char* const schemes = allows_http ? "http,https" : "https";
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, schemes);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectLimit_s);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kMinBytesPerSecond);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowFor_s);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "fathom");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, cause);
    return handle;
}

long status_of(CURL* curl)
{
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status < kFirstFinalStatus ? 0 : status;
}

Error refusal(long status)
{
    const bool may_pass = status >= kServerErrors || status == kRequestTimeout || status == kTooManyRequests ||
                          status == kRangeNotSatisfiable;
    return {may_pass ? Errc::kUnavailable : Errc::kInvalid, "the server answered " + std::to_string(status)};
}

Error failure(CURLcode code, const char* cause)
{
    // libcurl's words may hold the URL that a redirect led to.
    const bool is_told = cause[0] != '\0' && std::string_view(cause).find("://") == std::string_view::npos;
    return {is_final(code) ? Errc::kInvalid : Errc::kUnavailable, is_told ? cause : curl_easy_strerror(code)};
}

Result<void> with_tries(const TransferTries& tries, const std::function<Result<void>(int)>& attempt,
                        const std::function<bool()>& got_on)
{
    std::chrono::milliseconds pause = tries.first_pause;
    int counted = 0;
    for (int i = 1;; ++i) {
        const Result<void> done = attempt(i);
        if (done || !is_transient(done.error().code)) return done;
        if (got_on && got_on()) {
            counted = 0;
            pause = tries.first_pause;
        } else if (++counted >= tries.most) {
            return Error{done.error().code, done.error().detail + ", at the last of " + std::to_string(i) + " tries"};
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kMaxPause);
    }
}

} // namespace fathom
