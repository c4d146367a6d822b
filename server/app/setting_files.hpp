#pragma once

#include "core/base/settings.hpp"

#include <string>
#include <string_view>

/// Settings that name files.
namespace fathom::server {

/// For SettingSpec: empty, or an absolute path.
std::string check_file_path(std::string_view value);

/// What is in the file that a setting names; empty where it names none. Blocks.
/// @error kInvalid  it cannot be read, or is larger; the detail begins with the setting.
Result<std::string> read_setting_file(const Settings& settings, const char* name, std::size_t max_bytes);

/// The same of a secret: without the spaces and line ends behind it.
Result<std::string> read_secret_file(const Settings& settings, const char* name);

/// The same of certificates in PEM that vouch for a server.
/// @error kInvalid  they are none.
Result<std::string> read_authority_file(const Settings& settings, const char* name);

} // namespace fathom::server
