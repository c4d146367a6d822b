#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/unit_cut.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::agent {

/// Devices of one kind that this center has and nothing finds by itself: a `[[device]]` table. All are alike.
struct DeviceDescription {
    std::string kind; ///< the resource type of units that are cut from them
    std::string model;
    std::int64_t memory_bytes = 0;   ///< of each; 0: not known
    std::string variable;            ///< tells a job which it has: their values, commas between them; may be empty
    std::vector<std::string> values; ///< of each device, as the variable names it; one for each
    std::vector<std::string> files;  ///< a device file for each; empty: none
    std::vector<std::string> shared_files; ///< device files that each job of the kind needs
};

/// The tables `[[unit_type]]`; errors go to the reader's list.
std::vector<UnitCut> read_unit_cuts(ObjectReader& reader, std::vector<FieldError>& errors);
/// The tables `[[device]]`, likewise.
std::vector<DeviceDescription> read_devices(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::agent
