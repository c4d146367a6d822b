#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <curl/curl.h>
#include <functional>
#include <memory>
#include <string>

namespace fathom {

/// How failed transfers are tried again.
struct TransferTries {
    int most = 5;                                ///< of one file
    std::chrono::milliseconds first_pause{1000}; ///< doubled after each try that counts
};

/// A server's refusal to send a part of what it has: another try asks for all of it.
inline constexpr long kRangeNotSatisfiable = 416;

using CurlHandle = std::unique_ptr<CURL, void (*)(CURL*)>;

/// Readies libcurl; once in the life of the process.
/// @error kUnavailable  it does not start.
Result<void> start_curl();

/// What both ways have in common: TLS from 1.2 on with checked certificates, limits of time, no scheme but https, and
/// http where it is allowed. Null where memory is out.
/// @param cause  CURL_ERROR_SIZE bytes, which outlive the handle
CurlHandle make_transfer(const std::string& url, bool allows_http, char* cause);

/// The response's code; 0 where there was no final one.
long status_of(CURL* curl);

/// A response that is not the one hoped for.
/// @return kUnavailable where another try may help, kInvalid where not
Error refusal(long status);

/// A transfer that libcurl ended; kUnavailable and kInvalid as above. Holds no URL.
Error failure(CURLcode code, const char* cause);

/// Makes tries until one succeeds or another cannot help, with growing pauses between them.
/// @param attempt  is given the number of the try, from 1 on
/// @param got_on  asked after a try that failed, whether it got further than those before it: such a one does not
/// count, and tries are counted anew after it. Empty: all count.
Result<void> with_tries(const TransferTries& tries, const std::function<Result<void>(int)>& attempt,
                        const std::function<bool()>& got_on = {});

} // namespace fathom
