#include "core/model/device_neighbours.hpp"

namespace fathom {
namespace {

constexpr double kMaxKeptShare = 4; ///< side effects can make a kernel faster beside another, but not more so

} // namespace

DeviceNeighbours read_device_neighbours(ObjectReader& reader)
{
    DeviceNeighbours neighbours;
    neighbours.compute_count = reader.optional_integer("compute", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.memory_count = reader.optional_integer("memory", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.unknown_count = reader.optional_integer("unknown", 0, kMaxDeviceNeighbours).value_or(0);
    neighbours.expected_share = reader.optional_number("expected_share", 0, kMaxKeptShare);
    neighbours.least_share_beside = reader.optional_number("least_share_beside", 0, kMaxKeptShare);
    neighbours.is_measured = reader.optional_boolean("measured").value_or(false);
    return neighbours;
}

Json to_json(const DeviceNeighbours& neighbours)
{
    Json json = {{"compute", neighbours.compute_count},
                 {"memory", neighbours.memory_count},
                 {"unknown", neighbours.unknown_count},
                 {"measured", neighbours.is_measured}};
    if (neighbours.expected_share) json["expected_share"] = *neighbours.expected_share;
    if (neighbours.least_share_beside) json["least_share_beside"] = *neighbours.least_share_beside;
    return json;
}

} // namespace fathom
