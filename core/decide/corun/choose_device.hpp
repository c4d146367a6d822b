#pragma once

#include "core/base/portable_math.hpp"
#include "core/decide/corun/pair_knowledge.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// On which of several devices a job gets a part, by who is there (C3, C8).
namespace fathom {

/// A device that has a free part.
struct DeviceOption {
    std::vector<PairMember> tenants; ///< jobs that have parts of it, each once
    std::size_t free_parts{1};
    bool lacks_memory{}; ///< for this job
};

/// What is expected of a job beside others. Tenants of which nothing is known with it (no measured pair, and the class
/// of one of both is unknown) count neither for nor against: the figures are of the others.
struct DeviceExpectation {
    double combined{1};           ///< Σ normalized IPC of the job and its tenants; 1: it is alone, or nothing is known
    double newcomer_share{1};     ///< normalized IPC of the job
    double newcomer_spread{};     ///< how far off that may be (PairShare::spread); 0 where nobody counts
    double least_tenant_share{1}; ///< of that tenant who keeps least; 1: there is none
    std::size_t known_count{};    ///< tenants that count
    PairSource basis{PairSource::kDefault}; ///< of all of it, what rests on least
    bool is_excluded{};                     ///< the job and one of its tenants cannot run together

    /// Whether everybody is expected to keep at least an equal part, what taking turns would leave each.
    bool keeps_equal_parts() const;
};

/// What one keeps of its speed beside several others: the product of what it keeps beside each.
struct ShareBesideSeveral {
    double share{1};
    double relative_squares{}; ///< of a product: those of its factors together

    void add(const PairShare& kept)
    {
        share *= kept.share;
        relative_squares += portable::square(kept.spread / kept.share);
    }
};

/// Each keeps the product of what it keeps beside each other one, as in decide_corun(). The same whatever the order of
/// the tenants.
DeviceExpectation expect_beside(const PairMember& newcomer, std::span<const PairMember> tenants,
                                const PairKnowledge& pairs);

/// The devices as indices, the best first:
///
/// 1. those that have the memory that the job asks for,
/// 2. on which nobody is expected to keep less than an equal part; last those where it cannot run together with a
/// tenant,
/// 3. with the greatest combined performance: compute beside memory before compute beside compute by default; a device
///    that nobody has counts 1, as does one of whose tenants nothing is known,
/// 4. with the fewest free parts, so that whole devices stay free for jobs that share none,
/// 5. in their order.
///
/// Where nothing is known of the job only 1, 4 and 5 count. Never fails: what is worst is last, and is still given
/// where nothing else has room.
std::vector<std::size_t> order_devices(const PairMember& newcomer, std::span<const DeviceOption> devices,
                                       const PairKnowledge& pairs);

} // namespace fathom
