#include "core/model/device_neighbours.hpp"

#include "core/base/json_reader.hpp"
#include "core/model/pair_source.hpp"

#include <optional>
#include <string>

namespace fathom {
namespace {

/// Older agents say only whether it was measured; what a newer one may say rests on something that was.
PairSource read_basis(ObjectReader& reader)
{
    const bool is_measured = reader.optional_boolean("measured").value_or(false);
    const std::optional<std::string> basis = reader.optional_string("basis", {.max_length = 32});
    if (!is_measured) return PairSource::kDefault;
    return basis ? parse_pair_source(*basis).value_or(PairSource::kClassAverage) : PairSource::kMeasured;
}

} // namespace

DeviceNeighbours read_device_neighbours(ObjectReader& reader)
{
    DeviceNeighbours neighbours;
    neighbours.compute_count = reader.optional_integer("compute", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.memory_count = reader.optional_integer("memory", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.unknown_count = reader.optional_integer("unknown", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.expected_share = reader.optional_number("expected_share", 0, kMaxKeptShare);
    neighbours.least_share_beside = reader.optional_number("least_share_beside", 0, kMaxKeptShare);
    neighbours.expected_spread = reader.optional_number("expected_spread", 0, kMaxKeptShare);
    neighbours.basis = read_basis(reader);
    return neighbours;
}

Json to_json(const DeviceNeighbours& neighbours)
{
    Json json = {{"compute", neighbours.compute_count},
                 {"memory", neighbours.memory_count},
                 {"unknown", neighbours.unknown_count},
                 {"measured", neighbours.basis != PairSource::kDefault}};
    if (neighbours.basis != PairSource::kDefault) json["basis"] = to_string(neighbours.basis);
    if (neighbours.expected_share) json["expected_share"] = *neighbours.expected_share;
    if (neighbours.expected_spread) json["expected_spread"] = *neighbours.expected_spread;
    if (neighbours.least_share_beside) json["least_share_beside"] = *neighbours.least_share_beside;
    return json;
}

} // namespace fathom
