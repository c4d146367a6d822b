#include "core/transfer/signed_url.hpp"

#include "core/base/clock.hpp"
#include "core/base/hex.hpp"
#include "core/base/hmac.hpp"
#include "core/base/sha256.hpp"
#include "core/transfer/object_store.hpp"

#include <cctype>
#include <string>
#include <string_view>

namespace fathom {
namespace {

std::string sha256_of(std::string_view text)
{
    Sha256 digest;
    digest.add(text);
    return digest.hex();
}

std::string hex_of(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes)
        append_hex(text, static_cast<unsigned char>(byte));
    return text;
}

bool stands_for_itself(char byte)
{
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
           std::string_view("-._~").find(byte) != std::string_view::npos;
}

std::string encoded(std::string_view text, std::string_view also_kept)
{
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string result;
    for (const char byte : text) {
        const unsigned value = static_cast<unsigned char>(byte);
        if (stands_for_itself(byte) || also_kept.find(byte) != std::string_view::npos)
            result += byte;
        else
            result += {'%', kDigits[value >> 4U], kDigits[value & 15U]};
    }
    return result;
}

/// "20260131T235959Z"
std::string compact_time(Timestamp at)
{
    std::string text;
    for (const char sign : format_rfc3339(at)) {
        if (sign == '.' || sign == 'Z') break;
        if (sign != '-' && sign != ':') text += sign;
    }
    return text + "Z";
}

} // namespace

std::string encoded_path(std::string_view path)
{
    return encoded(path, "/");
}

std::string signed_url(const ObjectStoreAccess& access, const SignedRequest& request)
{
    std::string host = access.endpoint.substr(access.endpoint.find("://") + 3);
    // Clients leave a scheme's usual port out of `Host`, which is signed.
    const std::string_view usual_port = access.endpoint.starts_with("https://") ? ":443" : ":80";
    if (host.ends_with(usual_port)) host.resize(host.size() - usual_port.size());
    const std::string time = compact_time(request.at);
    const std::string day = time.substr(0, time.find('T'));
    const std::string scope = day + "/" + access.region + "/s3/aws4_request";
    const std::string query =
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + encoded(access.access_key + "/" + scope, "") +
        "&X-Amz-Date=" + time + "&X-Amz-Expires=" + std::to_string(request.lasts.count()) + "&X-Amz-SignedHeaders=host";
    const std::string path = encoded_path(request.path);
    const std::string canonical =
        std::string(request.method) + "\n" + path + "\n" + query + "\nhost:" + host + "\n\nhost\nUNSIGNED-PAYLOAD";
    const std::string text = "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + sha256_of(canonical);
    const std::string key = hmac_sha256(
        hmac_sha256(hmac_sha256(hmac_sha256("AWS4" + access.secret_key, day), access.region), "s3"), "aws4_request");
    return access.endpoint + path + "?" + query + "&X-Amz-Signature=" + hex_of(hmac_sha256(key, text));
}

} // namespace fathom
