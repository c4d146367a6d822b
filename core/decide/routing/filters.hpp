#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// The filters that candidates pass before they are compared: what is said of each, in one table.
namespace fathom {

/// In this order: a candidate is counted by the first one that removes it.
enum class Filter : std::uint8_t {
    kPolicy,    ///< the job asks for another center or unit type, or an administrator keeps its project out
    kOperators, ///< the unit type lacks one of the job's operators (M8)
    kDevice,    ///< CPU or GPU, instruction sets
    kMemory,
    kUnitCount, ///< the unit type has fewer units than the job takes at least
    kSoftware,  ///< its center lacks modules or containers, which the job needs
    kDataSite,  ///< the job's data may not be there
    kWallLimit, ///< its batch system lets no job run as long as this one may
    kQuota,     ///< its project may not take so much
    kDrain,     ///< drained, or closed for maintenance for good
    kHealth,    ///< silent, lost, quarantined, never connected
    kDeadline,  ///< it would end too late
    kBudget,    ///< it would cost too much
    kSpeedup,   ///< S6 speaks for the other of CPU and GPU at its center, which is no worse for the job
};

/// What is said of a filter.
struct FilterRule {
    Filter filter{};
    std::string_view name; ///< in REST, JSON and logs
    std::string_view one;  ///< what one candidate does that it removes
    std::string_view many; ///< what several do
    /// What it is in documents that are kept: the same for ever, wherever others come in between.
    std::uint8_t written_number{};
    /// What it removes stays removed, unless the job or the unit type becomes another. Otherwise time may let it pass:
    /// a center comes back, another month begins, other jobs end.
    bool removes_for_good{};
};

inline constexpr std::array kFilterRules{
    FilterRule{Filter::kPolicy, "policy", "is kept out by what the job asks for or its project may use",
               "are kept out by what the job asks for or its project may use", 0, true},
    FilterRule{Filter::kOperators, "operators", "lacks an operator of the job", "lack an operator of the job", 1, true},
    FilterRule{Filter::kDevice, "device", "is another device or lacks instructions",
               "are another device or lack instructions", 2, true},
    FilterRule{Filter::kMemory, "memory", "has too little memory", "have too little memory", 3, true},
    FilterRule{Filter::kUnitCount, "unit_count", "has too few units", "have too few units", 4, true},
    FilterRule{Filter::kSoftware, "software", "lacks modules or containers that the job needs",
               "lack modules or containers that the job needs", 13, true},
    FilterRule{Filter::kDataSite, "data_site", "is not where the data may be", "are not where the data may be", 5,
               true},
    FilterRule{Filter::kWallLimit, "wall_limit", "lets no job run as long as this one may",
               "let no job run as long as this one may", 11, true},
    FilterRule{Filter::kQuota, "quota", "would take more than the project's quota",
               "would take more than the project's quota", 6, false},
    FilterRule{Filter::kDrain, "drain", "is drained", "are drained", 7, false},
    FilterRule{Filter::kHealth, "health", "is silent, lost or quarantined", "are silent, lost or quarantined", 8,
               false},
    FilterRule{Filter::kDeadline, "deadline", "would end after the deadline", "would end after the deadline", 9, false},
    FilterRule{Filter::kBudget, "budget", "would cost more than the budget", "would cost more than the budget", 10,
               false},
    FilterRule{Filter::kSpeedup, "speedup", "is set aside by the GPU's speed-up", "are set aside by the GPU's speed-up",
               12, false},
};
inline constexpr std::size_t kFilterCount = kFilterRules.size();

constexpr const FilterRule& rule_of(Filter filter)
{
    return kFilterRules[static_cast<std::size_t>(filter)];
}

/// "policy", "operators", …
constexpr std::string_view to_string(Filter filter)
{
    return rule_of(filter).name;
}

/// The filter of which `is_it` is true; empty: of none.
template <class Predicate>
constexpr std::optional<Filter> find_filter(Predicate is_it)
{
    for (const FilterRule& rule : kFilterRules) {
        if (is_it(rule)) return rule.filter;
    }
    return std::nullopt;
}

constexpr std::optional<Filter> parse_filter(std::string_view text)
{
    return find_filter([text](const FilterRule& rule) { return rule.name == text; });
}

/// Each rule stands at its filter's place, and no two are written alike.
constexpr bool are_filter_rules_in_order()
{
    for (std::size_t place = 0; place < kFilterCount; ++place) {
        const FilterRule& rule = kFilterRules[place];
        if (rule.filter != static_cast<Filter>(place) || rule.written_number >= kFilterCount) return false;
        const auto first =
            find_filter([&](const FilterRule& one) { return one.written_number == rule.written_number; });
        if (first != rule.filter) return false;
    }
    return true;
}
static_assert(are_filter_rules_in_order() && kFilterRules.back().filter == Filter::kSpeedup);

} // namespace fathom
