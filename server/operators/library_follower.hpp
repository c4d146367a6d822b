#pragma once

#include "core/base/metrics.hpp"
#include "server/operators/library_copy.hpp"
#include "server/operators/operators_service.hpp"

#include <condition_variable>
#include <mutex>
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

    /// One look. Blocks; for the thread, and for tests without it.
    /// @return what was copied, and what cannot be.
    /// @error as read_followed_library, and of the database
    Result<LibraryCopy> look();

  private:
    void repeat();
    /// Says what is new in the log and the metrics.
    void tell(const Result<LibraryCopy>& outcome);
    /// Of what is missing and signed. What cannot be had is missing in it, too, and said in `differences`.
    std::map<VersionName, OperatorPackage> fetch_packages(const std::vector<FollowedVersion>& missing,
                                                          std::vector<std::string>& differences) const;

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
