#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Who gets the sub-units that centers have given up (R8). Pure: the order of what is passed does not matter.
namespace fathom {

/// Sub-units of one kind that a center has given up and nobody has got yet.
struct FreedSubUnits {
    std::string release_id;
    std::int64_t count{};
    std::int64_t turn{}; ///< of whom asked earlier is smaller; unique
};

/// What a center still waits for. A center stands here once.
struct SubUnitWish {
    std::string request_id;
    std::int64_t count{};
    std::int64_t turn{}; ///< of whom asked earlier is smaller; unique
};

/// Sub-units that go from one center to another.
struct PlannedGrant {
    std::string release_id;
    std::string request_id;
    std::int64_t count{};

    bool operator==(const PlannedGrant&) const = default;
};

/// Max-min fair whole shares of `free_count`: nobody gets more than it wishes, and nobody could get one more without
/// taking it from somebody who has no more than that. What does not divide goes to whom asked first, one each.
/// @return a share for each wish, in their order
std::vector<std::int64_t> fair_sub_unit_shares(std::int64_t free_count, std::span<const SubUnitWish> wishes);

/// Grants what is free to whom waits, by fair_sub_unit_shares(); of what is free the earliest release goes first, and
/// to the earliest request. Grants of nothing are left out.
std::vector<PlannedGrant> plan_grants(std::span<const FreedSubUnits> freed, std::span<const SubUnitWish> wishes);

} // namespace fathom
