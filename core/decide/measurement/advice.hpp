#pragma once

#include "core/model/probe_result.hpp"

#include <string>
#include <vector>

namespace fathom {

/// Why a unit does less than its hardware could, as far as its own probe can know. For people; no figure, score or
/// decision looks at it.
struct Advice {
    std::string kind;               ///< stable: "blas_core", "dgemm_rate", "cpu_quota", …
    std::string message;            ///< one sentence: what is wrong
    Json evidence = Json::object(); ///< the figures that it follows from
    std::string remedy;             ///< one sentence: what would change it
};

/// What a center says that one unit has.
struct UnitSize {
    std::int64_t cores{};        ///< 0: not known
    std::int64_t memory_bytes{}; ///< 0: not known
};

/// Advice from one probe result, in a fixed order; none when all is well. Facts that are missing, or are not what they
/// should be, are passed over: a center may send anything.
std::vector<Advice> advise(const ProbeResult& result, const UnitSize& unit);

Json to_json(const Advice& advice);

} // namespace fathom
