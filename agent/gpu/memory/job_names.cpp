#include "agent/gpu/memory/job_names.hpp"

#include "core/base/file.hpp"
#include "core/base/secret.hpp"
#include "core/base/sha256.hpp"

#include <string_view>

namespace fathom::gpu {
namespace {

constexpr std::string_view kPrefix = "fathom-gpu-";
constexpr std::size_t kMinLetters = 43; ///< of 32 random bytes

} // namespace

Result<JobNames> JobNames::load(const std::filesystem::path& file)
{
    Result<std::string> secret = read_file(file);
    if (secret && secret->size() >= kPrefix.size() + kMinLetters) return JobNames(std::move(*secret));
    if (!secret && secret.error().code != Errc::kNotFound) return secret.error();
    std::string made = new_secret(kPrefix);
    if (Result<void> written = write_file(file, made, 0600); !written) return written.error();
    return JobNames(std::move(made));
}

/// 63 bits: who guesses needs a connection for each.
std::int64_t JobNames::proof(const std::string& job) const
{
    Sha256 digest;
    digest.add(secret_);
    digest.add(job);
    digest.add(secret_);
    constexpr std::size_t kDigits = 16;
    const std::uint64_t number = std::stoull(digest.hex().substr(0, kDigits), nullptr, 16);
    return static_cast<std::int64_t>(number >> 1U | 1U);
}

} // namespace fathom::gpu
