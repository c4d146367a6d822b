#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// Why a result of a center is quarantined, gravest first. The first three cannot come about honestly and cost trust.
enum class FindingKind {
    kChecksum,    ///< not computed, or the result of another run
    kClock,       ///< times that our own clock contradicts
    kRate,        ///< faster than the hardware can be
    kVersion,     ///< of another version of an operator than ordered
    kWrongResult, ///< other operators, sizes, counts or units than ordered
    kNonsense,    ///< garbage, absurd numbers, statistics that do not follow from the samples
    kDoubled,     ///< a second result of one run
    kLate,        ///< its run had ended without it
};
std::string_view to_string(FindingKind kind);
bool costs_trust(FindingKind kind);

/// Something found about a result.
struct Finding {
    FindingKind kind{FindingKind::kNonsense};
    std::string detail; ///< for people
    Json evidence = Json::object();
    /// An honest center shows the same when its report of the end comes late: the run is repeated first.
    bool may_be_late{};
    /// Only together with the runs before it does the run show this: what those measured is void as well.
    bool is_pattern{};
};

} // namespace fathom::server
