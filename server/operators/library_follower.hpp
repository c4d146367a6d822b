#pragma once

#include "core/base/metrics.hpp"
#include "server/operators/library_copy.hpp"
#include "server/operators/operators_service.hpp"

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace fathom::server {

/// Keeps this network's library of operators as another fathomd has it (M2): looks there from time to time, and copies
/// what is missing here. While the other cannot be reached everything goes on with what was copied. Every replica
/// looks; what one has copied the others find. Runs on a thread of its own. start() and stop() are not thread-safe. All
/// must outlive it.
class LibraryFollower {
  public:
    LibraryFollower(Database& database, const OperatorsService& operators, ProbeRunTerminator& runs, LibraryPlace place,
                    LibrarySite site, Metrics& metrics);
    ~LibraryFollower();
    LibraryFollower(const LibraryFollower&) = delete;
    LibraryFollower& operator=(const LibraryFollower&) = delete;

    void start();
    /// Ends a look that is under way. Blocks.
    void stop();

    /// One look. Blocks; for the thread, and for tests without it. Of packages, no more than some are in memory at once
    /// (kMaxHeldBytes of code, and one): these are copied before the next are asked for.
    /// @return what was copied, and what cannot be.
    /// @error as read_followed_library, and of the database; what was copied by then stays
    Result<LibraryCopy> look();

  private:
    void repeat();
    /// Says what is new in the log and the metrics.
    void tell(const Result<LibraryCopy>& outcome);
    static constexpr std::size_t kMaxHeldBytes = 8UL << 20U;

    /// The next packages of versions that are missing, from `next` on, which moves on. One that cannot be had is said
    /// in `copy`.
    std::map<VersionName, OperatorPackage> fetch_packages(std::span<const FollowedVersion>& next,
                                                          LibraryCopy& copy) const;

    Database* database_;
    const OperatorsService* operators_;
    ProbeRunTerminator* runs_;
    LibraryPlace place_;
    LibrarySite site_;
    Metrics* metrics_;
    std::string told_failure_;                    ///< of the last look
    std::vector<std::string> told_differences_{}; ///< of the last look that reached the site
    std::mutex mutex_;
    std::condition_variable wake_;
    bool is_stopping_ = false; ///< under mutex_
    std::thread thread_;
};

} // namespace fathom::server
