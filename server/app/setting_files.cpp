#include "server/app/setting_files.hpp"

#include "core/base/file.hpp"
#include "core/net/tls.hpp"
#include "core/net/tls_context.hpp"

namespace fathom::server {
namespace {

constexpr std::size_t kMaxSecretBytes = 4096;
constexpr std::size_t kMaxAuthorityBytes = 1UL << 20U;

} // namespace

std::string check_file_path(std::string_view value)
{
    return value.empty() || value.front() == '/' ? "" : "must be an absolute path";
}

Result<std::string> read_setting_file(const Settings& settings, const char* name, std::size_t max_bytes)
{
    const std::string& path = settings.text(name);
    if (path.empty()) return std::string();
    Result<std::string> content = read_file(path, max_bytes);
    if (!content) return Error{Errc::kInvalid, std::string(name) + ": " + content.error().detail};
    return content;
}

Result<std::string> read_secret_file(const Settings& settings, const char* name)
{
    Result<std::string> secret = read_setting_file(settings, name, kMaxSecretBytes);
    if (secret) secret->erase(secret->find_last_not_of(" \r\n\t") + 1);
    return secret;
}

Result<std::string> read_authority_file(const Settings& settings, const char* name)
{
    Result<std::string> authority = read_setting_file(settings, name, kMaxAuthorityBytes);
    if (!authority) return authority;
    if (const Result<net::TlsContext> tls = net::make_client_context(*authority, nullptr); !tls)
        return Error{Errc::kInvalid, std::string(name) + ": " + tls.error().detail};
    return authority;
}

} // namespace fathom::server
