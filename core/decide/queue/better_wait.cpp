#include "core/decide/queue/better_wait.hpp"

#include "core/decide/queue/order_book.hpp"

namespace fathom {

std::vector<BetterWait> find_better_waits(std::span<const WaitingJobView> jobs,
                                          std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    OrderBook book = book_of(jobs, unit_types, settings);
    std::vector<BetterWait> waits;
    for (const BookedWait& wait : book.better_waits(0))
        waits.push_back({wait.job, wait.option, wait.wait_s, wait.longest_wait_s});
    return waits;
}

} // namespace fathom
