#pragma once

#include "core/base/settings.hpp"
#include "server/operators/followed_library.hpp"

#include <vector>

namespace fathom::server {

/// The settings of fathomd that begin with library_.
std::vector<SettingSpec> library_setting_specs();

/// Reads the files that the settings name, once: before fathomd gives root's rights up. Blocks.
/// @error kInvalid  the token is missing, or a file is not what it should be; the detail names the setting.
Result<LibraryPlace> to_library_place(const Settings& settings);

} // namespace fathom::server
