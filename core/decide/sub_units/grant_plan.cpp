#include "core/decide/sub_units/grant_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace fathom {
namespace {

template <class Item, class Key>
std::vector<std::size_t> sorted_by(std::span<const Item> items, Key key)
{
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(items[a]) < key(items[b]); });
    return order;
}

/// Releases or requests by their turn.
template <class Item>
std::vector<std::size_t> by_turn(std::span<const Item> items)
{
    return sorted_by(items, [](const Item& item) { return item.turn; });
}

/// What each gets at most, but for what does not divide.
std::int64_t fair_level(std::int64_t free_count, std::span<const SubUnitWish> wishes)
{
    std::int64_t left = std::max<std::int64_t>(free_count, 0);
    auto waiting = static_cast<std::int64_t>(wishes.size());
    // The smallest wish first: who wishes for no more than an equal part leaves the rest to the others.
    for (const std::size_t at : sorted_by(wishes, [](const SubUnitWish& wish) { return wish.count; })) {
        if (wishes[at].count > left / waiting) return left / waiting;
        left -= std::max<std::int64_t>(wishes[at].count, 0);
        --waiting;
    }
    return std::max<std::int64_t>(free_count, 0);
}

} // namespace

std::vector<std::int64_t> fair_sub_unit_shares(std::int64_t free_count, std::span<const SubUnitWish> wishes)
{
    const std::int64_t level = fair_level(free_count, wishes);
    std::int64_t left = std::max<std::int64_t>(free_count, 0);
    std::vector<std::int64_t> shares;
    for (const SubUnitWish& wish : wishes) {
        shares.push_back(std::clamp<std::int64_t>(wish.count, 0, level));
        left -= shares.back();
    }
    for (const std::size_t at : by_turn(wishes)) {
        if (left == 0) break;
        if (shares[at] >= wishes[at].count) continue;
        ++shares[at];
        --left;
    }
    return shares;
}

std::vector<PlannedGrant> plan_grants(std::span<const FreedSubUnits> freed, std::span<const SubUnitWish> wishes)
{
    const std::int64_t free_count =
        std::accumulate(freed.begin(), freed.end(), std::int64_t{0}, [](std::int64_t sum, const FreedSubUnits& one) {
            return sum + std::max<std::int64_t>(one.count, 0);
        });
    std::vector<std::int64_t> shares = fair_sub_unit_shares(free_count, wishes);
    const std::vector<std::size_t> requests = by_turn(wishes);
    std::vector<PlannedGrant> grants;
    auto request = requests.begin();
    for (const std::size_t at : by_turn(freed)) {
        std::int64_t left = freed[at].count;
        while (left > 0 && request != requests.end()) {
            const std::int64_t count = std::min(left, shares[*request]);
            if (count > 0) grants.push_back({freed[at].release_id, wishes[*request].request_id, count});
            left -= count;
            shares[*request] -= count;
            if (shares[*request] == 0) ++request;
        }
    }
    return grants;
}

} // namespace fathom
