#pragma once

#include "core/base/settings.hpp"
#include "server/identity/oidc/oidc_settings.hpp"

#include <vector>

namespace fathom::server {

/// The settings of fathomd that begin with oidc_, and public_url.
std::vector<SettingSpec> oidc_setting_specs();

/// Reads the files that the settings name, once: before fathomd gives root's rights up. Blocks.
/// @error kInvalid  what a sign-in needs is missing, or a file is not what it should be; the detail names the setting.
Result<OidcSettings> to_oidc_settings(const Settings& settings);

} // namespace fathom::server
