#pragma once

#include "core/base/clock.hpp"
#include "core/base/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// The settings of fathomd, in the order of --help, without those of oidc_setting_specs() and library_setting_specs().
std::vector<SettingSpec> server_setting_specs();

/// The names of public_names, which commas separate; spaces around them are dropped.
std::vector<std::string> split_names(std::string_view text);

/// network_hour_s: seconds with at most three decimals, 0.1 to 3600; empty when `value` is not that.
std::optional<Timestamp::duration> parse_hour(std::string_view value);

} // namespace fathom::server
