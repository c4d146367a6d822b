#pragma once

#include "core/base/result.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// One setting of a program. Its key `agent_listen` is the flag `--agent-listen`, the environment
/// variable `<PREFIX>AGENT_LISTEN` and the TOML key `agent_listen`.
struct SettingSpec {
    std::string key;
    std::string default_value; ///< "" for none
    std::string help;
    /// Empty text when the value is good, else what it must be.
    std::function<std::string(std::string_view)> check = nullptr;
    bool secret = false;    ///< shown as "***" by --print-config
    bool is_flag = false;   ///< "on" or "off"; its flag takes no value and says "on"
    bool is_hidden = false; ///< works, but --help is silent about it
    std::string word = {};  ///< the name in --help of a word without a flag that says it, too; empty: there is none
    /// The key that it had in the version before: the file, the environment and a flag that --help does not list still
    /// set it by that; empty: it had no other.
    std::string former_key = {};
};

/// A program's settings after all sources were joined.
class Settings {
  public:
    explicit Settings(std::map<std::string, std::string> values) : values_(std::move(values)) {}

    /// The key must be one of the program's specs.
    const std::string& text(const std::string& key) const;
    /// The spec's check must have made sure that it is a number.
    double number(const std::string& key) const;
    std::int64_t integer(const std::string& key) const;

  private:
    std::map<std::string, std::string> values_;
};

/// What the command line asked for.
struct SettingsOutcome {
    enum class Kind { kRun, kExit } kind = Kind::kRun;
    int exit_code = 0; ///< for kExit: the text was printed (--help, --version, --print-config, errors)
    Settings settings{{}};
    std::string config_path = {}; ///< of the file that was read; empty for none
};

/// The program's name, text for --help, prefix of its environment variables (`FATHOMD_`), and specs.
struct SettingsProgram {
    std::string name;
    std::string description;
    std::string environment_prefix;
    std::vector<SettingSpec> specs;
    /// Keys of the config file whose values are tables or lists: the program reads them itself.
    std::vector<std::string> tables = {};
    /// Every error in those tables, each naming its key; called with the text of the config file.
    std::function<std::vector<std::string>(const std::string& toml)> check_tables = nullptr;
};

/// Joins defaults < `--config` file (TOML) < environment < flags; checks everything and reports all
/// errors at once on standard error with the source of each. Exit codes: 0 asked-for text, 2 errors.
SettingsOutcome read_settings(const SettingsProgram& program, int argc, const char* const* argv);

// Checks for SettingSpec::check.
std::string check_address_port(std::string_view value); ///< HOST:PORT, [IPv6]:PORT
std::string check_not_empty(std::string_view value);
std::function<std::string(std::string_view)> check_number(double min, double max);
std::function<std::string(std::string_view)> check_integer(std::int64_t min, std::int64_t max);
std::function<std::string(std::string_view)> check_one_of(std::vector<std::string> values);

/// Host and port of HOST:PORT or [IPv6]:PORT.
struct AddressPort {
    std::string host;
    std::uint16_t port{};
};
Result<AddressPort> parse_address_port(std::string_view text);

} // namespace fathom
