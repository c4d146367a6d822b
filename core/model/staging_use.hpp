#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>

namespace fathom {

/// What staging took of the time in which an attempt held its units, and what it moved.
struct StagingUse {
    double in_s{}; ///< from the attempt's start to that of its command, or to an input that could not be fetched
    std::int64_t in_bytes{};        ///< of inputs that are complete
    std::int64_t in_cached_bytes{}; ///< of these, of those that the center had kept of earlier jobs
    double out_s{};                 ///< from the command's end to that of the attempt
    std::int64_t out_bytes{};       ///< of outputs that are stored

    double both_s() const { return in_s + out_s; }
    bool operator==(const StagingUse&) const = default;
};

/// Reads the field `staging` of an attempt's end; missing is empty.
std::optional<StagingUse> parse_staging_use(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const StagingUse& use);

} // namespace fathom
