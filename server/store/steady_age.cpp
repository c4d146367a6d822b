#include "server/store/steady_age.hpp"

#include <algorithm>

namespace fathom::server {

Timestamp SteadyAge::look(Timestamp database, SteadyTime now)
{
    moments_.push_back({now, database});
    const SteadyTime then = now - age_;
    while (moments_.size() > 1 && moments_[1].steady <= then)
        moments_.pop_front();
    // A row that is younger was dated after `then`: no earlier than at one of these, wherever the clock has jumped.
    const auto earlier = [](const Moment& a, const Moment& b) { return a.database < b.database; };
    const Timestamp earliest = std::min_element(moments_.begin(), moments_.end(), earlier)->database;
    const auto unseen = moments_.front().steady - then; // from then to the first look
    if (unseen <= SteadyTime::duration::zero()) return earliest;
    return std::min(earliest, moments_.front().database - std::chrono::duration_cast<Timestamp::duration>(unseen));
}

} // namespace fathom::server
