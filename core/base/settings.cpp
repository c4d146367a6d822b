#include "core/base/settings.hpp"

#include "core/base/file.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8.hpp"

#include <CLI/CLI.hpp>
#include <toml.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

struct Sourced {
    std::string value;
    std::string source;
};
using SourcedValues = std::map<std::string, Sourced>;

std::string flag_name(const std::string& key)
{
    std::string name = "--" + key;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

std::string environment_name(const SettingsProgram& program, const std::string& key)
{
    std::string name = program.environment_prefix + key;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
}

std::string toml_text(const toml::value& value)
{
    if (value.is_string()) return value.as_string().str;
    std::ostringstream text;
    text << value;
    return text.str();
}

/// The key of now of a setting that the file names; nullptr: it is none.
const std::string* find_key(const SettingsProgram& program, const std::string& name)
{
    for (const SettingSpec& spec : program.specs) {
        if (name == spec.key || (!spec.former_key.empty() && name == spec.former_key)) return &spec.key;
    }
    return nullptr;
}

/// Adds the file's values; every unknown key is an error. Tables that the program reads itself are
/// only gathered, for --print-config.
void read_config_file(const SettingsProgram& program, const std::string& path, SourcedValues& values,
                      toml::table& tables, std::vector<std::string>& errors)
{
    const Result<std::string> content = read_file(path, 1U << 20U);
    if (!content) {
        errors.push_back(content.error().detail);
        return;
    }
    // The parser would read beyond the end of a string that is not.
    if (!is_utf8(*content)) {
        errors.push_back(path + ": not valid TOML: it is not UTF-8");
        return;
    }
    try {
        std::istringstream stream(*content);
        const toml::value document = toml::parse(stream, path);
        for (const auto& [key, value] : document.as_table()) {
            if (std::find(program.tables.begin(), program.tables.end(), key) != program.tables.end()) {
                tables[key] = value;
            } else if (const std::string* const now = find_key(program, key); now == nullptr) {
                errors.push_back(path + ": \"" + key + "\" is not a setting of " + program.name);
            } else if (*now != key && document.as_table().count(*now) > 0) {
                errors.push_back(path + ": \"" + key + "\" is the former name of \"" + *now +
                                 "\", which is there, too");
            } else {
                values[*now] = {toml_text(value), path};
            }
        }
        if (program.check_tables) {
            for (const std::string& error : program.check_tables(*content))
                errors.push_back(path + ": " + error);
        }
    } catch (const std::exception& e) {
        errors.push_back(path + ": not valid TOML: " + e.what());
    }
}

void check_values(const SettingsProgram& program, const SourcedValues& values, std::vector<std::string>& errors)
{
    for (const SettingSpec& spec : program.specs) {
        if (!spec.check) continue;
        const Sourced& entry = values.at(spec.key);
        if (const std::string problem = spec.check(entry.value); !problem.empty())
            errors.push_back(spec.key + " (" + entry.source + "): \"" + (spec.secret ? "***" : entry.value) + "\" " +
                             problem);
    }
}

void print_errors(const SettingsProgram& program, const std::vector<std::string>& errors)
{
    for (const std::string& error : errors)
        std::cerr << program.name << ": " << error << "\n";
    std::cerr << program.name << ": " << errors.size() << " wrong setting" << (errors.size() == 1 ? "" : "s")
              << "; see " << program.name << " --help\n";
}

void print_config(const SettingsProgram& program, const SourcedValues& values, const toml::table& tables)
{
    for (const SettingSpec& spec : program.specs) {
        const Sourced& entry = values.at(spec.key);
        const std::string shown = spec.secret && !entry.value.empty() ? "***" : entry.value;
        std::cout << spec.key << " = " << toml::format(toml::value(shown)) << "  # " << entry.source << "\n";
    }
    if (!tables.empty()) std::cout << "\n" << toml::format(toml::value(tables));
}

/// Makes the flag of one setting; what it says lands in `text`, unless it takes no value.
void add_flag(CLI::App& app, const SettingsProgram& program, const SettingSpec& spec, std::string& text)
{
    std::string help = spec.help + " [" + environment_name(program, spec.key) + "]";
    if (spec.is_flag) {
        app.add_flag(flag_name(spec.key))->description(help);
        return;
    }
    if (!spec.default_value.empty()) help += " (default: " + spec.default_value + ")";
    if (!spec.word.empty()) help += "; without its flag, too";
    const std::string names = flag_name(spec.key) + (spec.word.empty() ? "" : "," + spec.word);
    CLI::Option* const option = app.add_option(names, text, help)->type_name("VALUE");
    if (spec.is_hidden) option->group("");
    if (!spec.former_key.empty()) app.add_option(flag_name(spec.former_key), text)->group("")->excludes(option);
}

/// What the environment and the flags say of one setting, by its former key or its own.
void read_said(const CLI::App& app, const SettingsProgram& program, const SettingSpec& spec,
               const std::string& flag_text, SourcedValues& values)
{
    std::vector<std::string> keys{spec.key};
    if (!spec.former_key.empty()) keys.insert(keys.begin(), spec.former_key);
    for (const std::string& key : keys) {
        const std::string variable = environment_name(program, key);
        // Read before any thread starts.
        if (const char* value = std::getenv(variable.c_str()); value != nullptr) // NOLINT(concurrency-mt-unsafe)
            values[spec.key] = {value, variable};
    }
    for (const std::string& key : keys) {
        if (app.count(flag_name(key)) > 0) values[spec.key] = {spec.is_flag ? "on" : flag_text, flag_name(key)};
    }
}

} // namespace

const std::string& Settings::text(const std::string& key) const
{
    const auto entry = values_.find(key);
    FATHOM_ASSERT(entry != values_.end());
    return entry->second;
}

double Settings::number(const std::string& key) const
{
    return parse_number<double>(text(key)).value_or(0);
}

std::int64_t Settings::integer(const std::string& key) const
{
    return parse_number<std::int64_t>(text(key)).value_or(0);
}

SettingsOutcome read_settings(const SettingsProgram& program, int argc, const char* const* argv)
{
    CLI::App app(program.description, program.name);
    app.set_version_flag("--version", std::string(FATHOM_VERSION));
    std::string config_path;
    bool print = false;
    app.add_option("--config", config_path, "TOML file with settings; the environment and flags win over it")
        ->envname(program.environment_prefix + "CONFIG");
    app.add_flag("--print-config", print, "print every setting with its source, and exit");
    std::map<std::string, std::string> flags;
    for (const SettingSpec& spec : program.specs)
        add_flag(app, program, spec, flags[spec.key]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return {SettingsOutcome::Kind::kExit, app.exit(e) == 0 ? 0 : 2};
    }

    SourcedValues values;
    std::vector<std::string> errors;
    for (const SettingSpec& spec : program.specs)
        values[spec.key] = {spec.default_value, "default"};
    toml::table tables;
    if (!config_path.empty()) read_config_file(program, config_path, values, tables, errors);
    for (const SettingSpec& spec : program.specs)
        read_said(app, program, spec, flags[spec.key], values);
    check_values(program, values, errors);
    if (!errors.empty()) {
        print_errors(program, errors);
        return {SettingsOutcome::Kind::kExit, 2};
    }
    if (print) {
        print_config(program, values, tables);
        return {SettingsOutcome::Kind::kExit, 0};
    }
    std::map<std::string, std::string> plain;
    for (const SettingSpec& spec : program.specs)
        plain[spec.key] = values[spec.key].value;
    return {SettingsOutcome::Kind::kRun, 0, Settings(std::move(plain)), config_path};
}

Result<AddressPort> parse_address_port(std::string_view text)
{
    const Error malformed{Errc::kInvalid, "must be HOST:PORT or [IPv6]:PORT with a port from 0 to 65535"};
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return malformed;
    std::string_view host = text.substr(0, colon);
    const std::string_view port_text = text.substr(colon + 1);
    if (host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
        return malformed;
    const auto port = parse_number<std::uint16_t>(port_text);
    if (host.empty() || !port) return malformed;
    return AddressPort{std::string(host), *port};
}

std::string check_address_port(std::string_view value)
{
    const Result<AddressPort> parsed = parse_address_port(value);
    return parsed ? std::string() : parsed.error().detail;
}

std::string check_not_empty(std::string_view value)
{
    return value.empty() ? "must not be empty" : "";
}

std::function<std::string(std::string_view)> check_number(double min, double max)
{
    return [min, max](std::string_view value) -> std::string {
        const auto number = parse_number<double>(value);
        if (number && *number >= min && *number <= max) return "";
        std::ostringstream text;
        text << "must be a number between " << min << " and " << max;
        return text.str();
    };
}

std::function<std::string(std::string_view)> check_integer(std::int64_t min, std::int64_t max)
{
    return [min, max](std::string_view value) -> std::string {
        const auto number = parse_number<std::int64_t>(value);
        if (number && *number >= min && *number <= max) return "";
        return "must be a whole number between " + std::to_string(min) + " and " + std::to_string(max);
    };
}

std::function<std::string(std::string_view)> check_one_of(std::vector<std::string> values)
{
    return [values = std::move(values)](std::string_view value) -> std::string {
        std::string list;
        for (const std::string& allowed : values) {
            if (value == allowed) return "";
            list += (list.empty() ? "" : ", ") + allowed;
        }
        return "must be one of " + list;
    };
}

} // namespace fathom
