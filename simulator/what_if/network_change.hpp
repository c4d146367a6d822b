#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fathom::simulation {

/// One change of a network, made in the document of a centers file.
struct NetworkChange {
    enum class Kind {
        kScaleUnits,   ///< so many times the units of a unit type, or of all of a center
        kSetUnits,     ///< so many units of a unit type
        kAddCenter,    ///< a new center, which is as another one but for its name
        kRemoveCenter, ///< a center is gone, and what may run nowhere else with it
    };
    Kind kind = Kind::kScaleUnits;
    std::string center;         ///< name; of kAddCenter the new one's
    std::string unit_type{};    ///< name; empty: all of the center (kScaleUnits)
    double factor = 1;          ///< of kScaleUnits
    std::int64_t unit_count{1}; ///< of kSetUnits
    std::string like{};         ///< of kAddCenter: name of the center that the new one is as
};

/// The most units that a unit type can be changed to.
inline constexpr std::int64_t kMaxChangedUnits = 1'000'000;

/// `[{"kind": "scale_units", "center": "beta", "unit_type": "core", "factor": 2}, {"kind": "set_units", "center",
/// "unit_type", "unit_count"}, {"kind": "add_center", "center": "gamma", "like": "beta"}, {"kind": "remove_center",
/// "center"}]`, strictly; adds to `errors` what is wrong. At most 50.
std::vector<NetworkChange> parse_network_changes(const Json& changes, const std::string& path,
                                                 std::vector<FieldError>& errors);

/// Makes the changes one after another.
/// @param centers  a document that parse_centers() reads; not to be used after an error.
/// @param path     of the list of changes, in errors.
/// @error kInvalid  a center or unit type is not there, is there already, or would be the last one that goes.
Result<void> apply_changes(Json& centers, std::span<const NetworkChange> changes, const std::string& path);

/// So many times the units of a unit type in that document, in whole units, at least one.
void scale_unit_count(Json& unit_type, double factor);

} // namespace fathom::simulation
