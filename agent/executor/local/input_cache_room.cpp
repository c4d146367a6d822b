#include "agent/executor/local/input_cache_room.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace fathom::agent {
namespace {

/// What one of them has brought.
struct Share {
    std::int64_t bytes{};
    std::deque<const KeptInput*> files; ///< that may go, the one that was not used for longest first
};
using Shares = std::map<std::optional<unsigned>, Share>;

/// The largest; of equal ones that of `bringer`, and then the one with the file that was not used for longest.
Shares::iterator largest(Shares& shares, const std::optional<unsigned>& bringer)
{
    const auto rank = [&](const Shares::value_type& share) {
        const std::deque<const KeptInput*>& files = share.second.files;
        return std::tuple(share.second.bytes, share.first == bringer, files.empty() ? 0 : -files.front()->used_ns);
    };
    return std::max_element(shares.begin(), shares.end(),
                            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

} // namespace

Result<std::vector<std::string>> choose_leaving(std::vector<KeptInput> kept, const KeptInput& coming,
                                                std::int64_t limit_bytes, std::int64_t now_ns)
{
    if (coming.size_bytes > limit_bytes) return Error{Errc::kTooLarge, "it takes more than all files may"};
    std::sort(kept.begin(), kept.end(), [](const KeptInput& a, const KeptInput& b) {
        return std::tie(a.used_ns, a.sha256) < std::tie(b.used_ns, b.sha256);
    });
    std::int64_t total_bytes = coming.size_bytes;
    for (const KeptInput& file : kept)
        total_bytes += file.size_bytes;
    std::vector<std::string> leaving;
    Shares shares;
    shares[coming.bringer].bytes = coming.size_bytes;
    for (const KeptInput& file : kept) {
        if (total_bytes > limit_bytes && now_ns - file.used_ns > kLongUnused_ns) {
            leaving.push_back(file.sha256);
            total_bytes -= file.size_bytes;
            continue;
        }
        Share& share = shares[file.bringer];
        share.bytes += file.size_bytes;
        share.files.push_back(&file);
    }
    while (total_bytes > limit_bytes) {
        Share& share = largest(shares, coming.bringer)->second;
        if (share.files.empty()) return Error{Errc::kTooLarge, "others would lose more than who brings it has brought"};
        const KeptInput& file = *share.files.front();
        share.files.pop_front();
        share.bytes -= file.size_bytes;
        total_bytes -= file.size_bytes;
        leaving.push_back(file.sha256);
    }
    return leaving;
}

} // namespace fathom::agent
