#include "server/store/steady_age.hpp"

#include <algorithm>

namespace fathom::server {

Timestamp SteadyAge::look(Timestamp database, SteadyTime now)
{
    moments_.push_back({now, database});
    const SteadyTime then = now - age_;
    while (moments_.size() > 1 && moments_[1].steady <= then)
        moments_.pop_front();
    // A row that is younger was dated after `then`, between two of these or after the last. Wherever the clock has
    // jumped between two, the row is dated no earlier than at the first, or than the second less the time between both.
    Timestamp earliest = moments_.front().database;
    for (std::size_t i = 1; i < moments_.size(); ++i) {
        const auto between =
            std::chrono::duration_cast<Timestamp::duration>(moments_[i].steady - moments_[i - 1].steady);
        earliest = std::min({earliest, moments_[i].database, moments_[i].database - between});
    }
    const auto unseen = moments_.front().steady - then; // from then to the first look
    if (unseen <= SteadyTime::duration::zero()) return earliest;
    return std::min(earliest, moments_.front().database - std::chrono::duration_cast<Timestamp::duration>(unseen));
}

} // namespace fathom::server
