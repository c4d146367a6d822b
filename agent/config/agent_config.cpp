#include "agent/config/agent_config.hpp"

#include "agent/config/agent_setting_specs.hpp"
#include "agent/config/cpu_list.hpp"
#include "agent/config/kubernetes_settings.hpp"
#include "agent/config/slurm_settings.hpp"
#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/utf8.hpp"

#include <toml.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

namespace fathom::agent {
namespace {

/// Of the config file.
constexpr const char* kTables[] = {"unit_type",  "device",     "sub_units",       "environment", "operators", "balance",
                                   "gpu_memory", "slurm_user", "kubernetes_user", "s3",          "s3_access"};
constexpr std::size_t kMaxKeyBytes = 256UL << 10U;
constexpr std::size_t kMaxSettingsBytes = 16UL << 20U; ///< of the files together, as JSON

/// TOML as JSON, so that one strict reader with field paths serves both.
Json to_json(const toml::value& value)
{
    switch (value.type()) {
    case toml::value_t::boolean:
        return value.as_boolean();
    case toml::value_t::integer:
        return value.as_integer();
    case toml::value_t::floating:
        return value.as_floating();
    case toml::value_t::string:
        return value.as_string().str;
    case toml::value_t::array: {
        Json items = Json::array();
        for (const toml::value& item : value.as_array())
            items.push_back(to_json(item));
        return items;
    }
    case toml::value_t::table: {
        Json fields = Json::object();
        for (const auto& [key, item] : value.as_table())
            fields[key] = to_json(item);
        return fields;
    }
    case toml::value_t::empty:
    case toml::value_t::offset_datetime:
    case toml::value_t::local_datetime:
    case toml::value_t::local_date:
    case toml::value_t::local_time:
        break;
    }
    return nullptr; // dates stand nowhere in this file; the reader reports the field
}

std::map<std::string, std::string> read_environment(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::map<std::string, std::string> variables;
    const Json* json = reader.object("environment");
    if (json == nullptr) return variables;
    ObjectReader item(*json, "environment", errors);
    for (const auto& [name, value] : json->items()) {
        if (name.find('=') != std::string::npos || name.empty()) item.fail(name, "is not a variable's name");
        variables[name] = item.required_string(name, {.max_length = 65536});
    }
    return variables;
}

std::map<std::string, std::vector<std::string>> read_operators(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::map<std::string, std::vector<std::string>> operators;
    const Json* json = reader.object("operators");
    if (json == nullptr) return operators;
    ObjectReader item(*json, "operators", errors);
    for (const auto& [resource_type, ids] : json->items()) {
        operators[resource_type] = item.strings(resource_type, 1000, {.min_length = 1, .max_length = 64});
    }
    return operators;
}

Result<OperatorTrust> parse_operator_trust(std::string pem)
{
    Result<std::vector<PublicKey>> keys = parse_public_keys(pem);
    if (!keys) return keys.error();
    return OperatorTrust{.keys = std::move(*keys), .pem = std::move(pem)};
}

Result<OperatorTrust> read_operator_trust(const std::string& path)
{
    if (path.empty()) return OperatorTrust();
    Result<std::string> text = read_file(path, kMaxKeyBytes);
    if (!text) return Error{Errc::kInvalid, "operator_keys: " + text.error().detail};
    Result<OperatorTrust> trust = parse_operator_trust(std::move(*text));
    if (!trust) return Error{Errc::kInvalid, "operator_keys: " + path + ": " + trust.error().detail};
    return trust;
}

LogLevel parse_log_level(const std::string& text)
{
    if (text == "debug") return LogLevel::kDebug;
    if (text == "warning") return LogLevel::kWarning;
    if (text == "error") return LogLevel::kError;
    return LogLevel::kInfo;
}

RemoteRule parse_remote_rule(std::string_view text)
{
    if (text == "off") return RemoteRule::kOff;
    return text == "machine" ? RemoteRule::kMachine : RemoteRule::kWithin;
}

HomeRule parse_home_rule(std::string_view text)
{
    if (text == "open") return HomeRule::kOpen;
    return text == "hidden" ? HomeRule::kHidden : HomeRule::kReadOnly;
}

std::vector<std::string> table_errors(const std::string& toml)
{
    std::vector<std::string> texts;
    const Result<AgentTables> tables = parse_agent_tables(toml);
    if (tables) return texts;
    const Error error = tables.error();
    for (const FieldError& field : error.fields)
        texts.push_back(field.field + " " + field.detail);
    if (texts.empty()) texts.push_back(error.detail);
    return texts;
}

Result<void> read_tables(const std::filesystem::path& file, AgentConfig& config)
{
    Result<std::string> content = read_file(file, 1U << 20U);
    if (!content) return content.error();
    Result<AgentTables> tables = parse_agent_tables(*content);
    if (!tables) return tables.error();
    config.tables = std::move(*tables);
    config.tables_toml = std::move(*content);
    return {};
}

} // namespace

std::string_view to_string(RemoteRule rule)
{
    switch (rule) {
    case RemoteRule::kOff:
        return "off";
    case RemoteRule::kWithin:
        return "within";
    case RemoteRule::kMachine:
        return "machine";
    }
    return "off";
}

Result<AgentTables> parse_agent_tables(const std::string& toml)
{
    // The parser would read beyond the end of a string that is not.
    if (!is_utf8(toml)) return Error{Errc::kInvalid, "not valid TOML: it is not UTF-8"};
    Json document = Json::object();
    try {
        std::istringstream stream(toml);
        const Json all = to_json(toml::parse(stream, "config"));
        for (const char* key : kTables) {
            if (all.contains(key)) document[key] = all[key];
        }
    } catch (const std::exception& e) {
        return Error{Errc::kInvalid, std::string("not valid TOML: ") + e.what()};
    }
    std::vector<FieldError> errors;
    ObjectReader reader(document, "", errors);
    AgentTables tables;
    tables.unit_types = read_unit_cuts(reader, errors);
    tables.devices = read_devices(reader, errors);
    tables.sub_units = read_sub_units(reader, tables.unit_types, errors);
    tables.environment = read_environment(reader, errors);
    tables.operators = read_operators(reader, errors);
    tables.balance = read_balance(reader, errors);
    tables.gpu_memory = read_gpu_memory(reader, errors);
    tables.slurm_users = read_slurm_users(reader, errors);
    tables.kubernetes_users = read_kubernetes_users(reader, errors);
    tables.s3 = read_s3(reader, errors);
    if (tables.gpu_memory.enabled && tables.environment.contains("FATHOM_GPU_SOCKET"))
        errors.push_back({"environment.FATHOM_GPU_SOCKET", "names another memory manager than [gpu_memory]'s: leave "
                                                           "out one of them"});
    return value_or_errors(std::move(tables), std::move(errors), "the config file");
}

SettingsProgram agent_settings(std::string name, std::string description, bool needs_state_dir)
{
    SettingsProgram program{std::move(name), std::move(description), "FATHOM_AGENT_", {}};
    for (std::vector<SettingSpec> more : {place_settings(needs_state_dir), staging_settings(), limit_settings(),
                                          run_settings(), slurm_settings(), kubernetes_settings()})
        std::move(more.begin(), more.end(), std::back_inserter(program.specs));
    program.tables = {std::begin(kTables), std::end(kTables)};
    program.check_tables = table_errors;
    return program;
}

Result<AgentConfig> make_agent_config(const SettingsOutcome& outcome)
{
    const Settings& settings = outcome.settings;
    AgentConfig config;
    config.state_dir = settings.text("state_dir");
    config.cpus = parse_cpu_list(settings.text("cores")).value();
    config.run_as = settings.text("run_as");
    if (const std::string ids = settings.text("run_as_uids"); !ids.empty()) config.run_as_uids = *parse_user_ids(ids);
    config.shared_folders = split_folders(settings.text("shared_folders"));
    config.home_folder = parse_home_rule(settings.text("home_folder"));
    config.staging = {.takes_http = settings.text("input_http") == "on",
                      .folders = split_folders(settings.text("input_folders")),
                      .sends_http = settings.text("output_http") == "on",
                      .output_folders = split_folders(settings.text("output_folders"))};
    config.require_isolation = settings.text("require_isolation") == "on";
    config.probe_program = settings.text("probe_program");
    Result<OperatorTrust> trust = read_operator_trust(settings.text("operator_keys"));
    if (!trust) return trust.error();
    config.operator_trust = std::move(*trust);
    config.output_limit_bytes = settings.integer("output_limit_bytes");
    if (!settings.text("disk_bytes_per_processor").empty())
        config.disk_bytes_per_processor = settings.integer("disk_bytes_per_processor");
    if (!settings.text("input_cache_bytes").empty()) config.input_cache_bytes = settings.integer("input_cache_bytes");
    if (!settings.text("disk_files_per_processor").empty())
        config.disk_files_per_processor = settings.integer("disk_files_per_processor");
    config.io_read_bytes_per_s_per_processor = settings.integer("io_read_bytes_per_s_per_processor");
    config.io_write_bytes_per_s_per_processor = settings.integer("io_write_bytes_per_s_per_processor");
    config.io_reads_per_s_per_processor = settings.integer("io_reads_per_s_per_processor");
    config.io_writes_per_s_per_processor = settings.integer("io_writes_per_s_per_processor");
    config.keep_finished = std::chrono::seconds(std::llround(settings.number("keep_finished_hours") * 3600));
    config.log_level = parse_log_level(settings.text("log_level"));
    config.remote_resources = parse_remote_rule(settings.text("remote_resources"));
    config.software = {.modules = settings.text("modules"), .containers = settings.text("container_runtime")};
    config.uses_slurm = settings.text("executor") == "slurm";
    config.uses_kubernetes = settings.text("executor") == "kubernetes";
    config.kubernetes = read_kubernetes_settings(settings);
    Result<SlurmConfig> slurm = read_slurm_settings(settings);
    if (!slurm) return slurm.error();
    config.slurm = *std::move(slurm);
    if (outcome.config_path.empty()) return config;
    if (const Result<void> read = read_tables(outcome.config_path, config); !read) return read.error();
    return config;
}

std::string encode_changed_settings(const AgentConfig& config)
{
    return Json{{"cpus", format_cpu_list(config.cpus)},
                {"operator_keys", config.operator_trust.pem},
                {"log_level", static_cast<int>(config.log_level)},
                {"remote_resources", to_string(config.remote_resources)},
                {"tables", config.tables_toml}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<AgentConfig> with_changed_settings(AgentConfig present, const std::string& text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxSettingsBytes});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    Result<std::vector<std::int64_t>> cpus =
        parse_cpu_list(reader.required_string("cpus", {.max_length = kMaxSettingsBytes}));
    const std::string keys = reader.required_string("operator_keys", {.max_length = kMaxSettingsBytes});
    Result<OperatorTrust> trust = keys.empty() ? OperatorTrust() : parse_operator_trust(keys);
    present.log_level =
        static_cast<LogLevel>(reader.required_integer("log_level", 0, static_cast<int>(LogLevel::kError)));
    present.remote_resources =
        parse_remote_rule(reader.required_string("remote_resources", {.one_of = {"off", "within", "machine"}}));
    present.tables_toml = reader.required_string("tables", {.max_length = kMaxSettingsBytes});
    Result<AgentTables> tables = parse_agent_tables(present.tables_toml);
    if (!cpus) return cpus.error();
    if (!trust) return trust.error();
    if (!tables) return tables.error();
    present.cpus = std::move(*cpus);
    present.operator_trust = std::move(*trust);
    present.tables = std::move(*tables);
    return value_or_errors(std::move(present), std::move(errors), "the settings");
}

std::filesystem::path own_folder()
{
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

} // namespace fathom::agent
