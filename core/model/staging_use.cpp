#include "core/model/staging_use.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace fathom {
namespace {

constexpr double kMaxStaging_s = 1e9;
constexpr std::int64_t kMaxStagedBytes = std::int64_t{1} << 60U;

} // namespace

std::optional<StagingUse> parse_staging_use(ObjectReader& reader, std::vector<FieldError>& errors)
{
    const Json* const json = reader.object("staging");
    if (json == nullptr) return std::nullopt;
    ObjectReader fields(*json, reader.path_of("staging"), errors);
    StagingUse use;
    use.in_s = fields.required_number("in_s", 0, kMaxStaging_s);
    use.in_bytes = fields.required_integer("in_bytes", 0, kMaxStagedBytes);
    use.in_cached_bytes = fields.optional_integer("in_cached_bytes", 0, use.in_bytes).value_or(0);
    use.out_s = fields.required_number("out_s", 0, kMaxStaging_s);
    use.out_bytes = fields.required_integer("out_bytes", 0, kMaxStagedBytes);
    return use;
}

Json to_json(const StagingUse& use)
{
    return {{"in_s", use.in_s},
            {"in_bytes", use.in_bytes},
            {"in_cached_bytes", use.in_cached_bytes},
            {"out_s", use.out_s},
            {"out_bytes", use.out_bytes}};
}

} // namespace fathom
