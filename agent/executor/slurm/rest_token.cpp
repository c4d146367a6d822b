#include "agent/executor/slurm/rest_token.hpp"

#include "core/base/base64url.hpp"
#include "core/base/error_text.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/json_view.hpp"
#include "core/base/open_file.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxTokenBytes = 16UL << 10U;
constexpr double kMaxExpiry_s = 2.5e11; ///< the year 9999

Error unusable(const std::filesystem::path& path, const std::string& why)
{
    return {Errc::kUnavailable, "slurm_token_file " + path.string() + ": " + why};
}

Result<std::string> read_private(const std::filesystem::path& path)
{
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts{};
    if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) return unusable(path, error_text(errno));
    if (!S_ISREG(facts.st_mode)) return unusable(path, "is no file");
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
        return unusable(path, "belongs to another user, who could put in any token: chown it");
    if ((facts.st_mode & 0077U) != 0) return unusable(path, "others may read or write it: chmod 600");
    std::string text(kMaxTokenBytes + 1, '\0');
    const ssize_t size = ::read(file.number(), text.data(), text.size());
    if (size < 0) return unusable(path, error_text(errno));
    text.resize(static_cast<std::size_t>(size));
    if (text.size() > kMaxTokenBytes) return unusable(path, "is too long for a token");
    return text;
}

} // namespace

TokenClaims claims_of_token(std::string_view token)
{
    TokenClaims claims;
    const std::vector<std::string_view> parts = split_text(token, '.', 3);
    const std::optional<std::string> text = parts.size() == 3 ? base64url_decode(parts[1]) : std::nullopt;
    const Result<Json> json =
        text ? parse_json(*text, {.max_bytes = kMaxTokenBytes, .max_depth = 8}) : Result<Json>(Json());
    if (!json) return claims;
    const std::optional<double> expiry_s = json_view::number_of(*json, "exp");
    if (expiry_s && *expiry_s >= 0 && *expiry_s <= kMaxExpiry_s)
        claims.expiry = Timestamp(std::chrono::seconds(std::llround(*expiry_s)));
    claims.user = json_view::text_of(*json, "sun", "");
    return claims;
}

Result<std::string> read_slurm_token(const std::filesystem::path& path, Timestamp now)
{
    constexpr std::string_view kName = "SLURM_JWT=";
    const Result<std::string> text = read_private(path);
    if (!text) return text.error();
    std::string_view token = *text;
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
        token.remove_suffix(1);
    if (token.starts_with(kName)) token.remove_prefix(kName.size());
    const bool is_plain = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (token.empty() || !is_plain) return unusable(path, "holds no token: scontrol token lifespan=SECONDS prints one");
    const std::optional<Timestamp> expiry = claims_of_token(token).expiry;
    if (expiry && *expiry <= now)
        return unusable(path, "the token has expired at " + format_rfc3339(*expiry) +
                                  ": put in a new one (scontrol token lifespan=SECONDS); it is read again by itself");
    return std::string(token);
}

} // namespace fathom::agent
