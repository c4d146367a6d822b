#include "agent/config/agent_config.hpp"

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
constexpr std::int64_t kMaxIoRate = 1LL << 40U;
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

std::string check_cpu_list(std::string_view text)
{
    const Result<std::vector<std::int64_t>> cpus = parse_cpu_list(text);
    return cpus ? std::string() : cpus.error().detail;
}

std::string check_user_ids(std::string_view text)
{
    if (text.empty()) return {};
    const Result<UserIds> ids = parse_user_ids(text);
    return ids ? std::string() : ids.error().detail;
}

std::vector<std::filesystem::path> split_folders(const std::string& text)
{
    std::vector<std::filesystem::path> folders;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::filesystem::path path = std::filesystem::path(part).lexically_normal();
        folders.push_back(path.has_filename() ? path : path.parent_path());
    }
    return folders;
}

std::string check_software(std::string_view text)
{
    if (text == "auto" || text == "off") return {};
    const bool is_plain = text.find_first_of(" \t\n\"'\\%$`") == std::string_view::npos;
    return text.starts_with('/') && is_plain ? "" : "must be auto, off or an absolute path without spaces and quotes";
}

std::string check_disk_share(std::string_view value)
{
    return value.empty() ? "" : check_integer(0, 1LL << 60U)(value);
}

std::string check_folders(std::string_view text)
{
    for (const std::filesystem::path& folder : split_folders(std::string(text))) {
        if (!folder.is_absolute()) return "must be absolute paths of folders, with commas between them";
    }
    return {};
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

/// Where the agent and its jobs are, and as whom.
std::vector<SettingSpec> place_settings(bool needs_state_dir)
{
    return {
        {"state_dir", "", "folder made by fathom-agent enrol: key, certificate, spool, running jobs",
         needs_state_dir ? check_not_empty : nullptr},
        {"cores", "", "processors that this center offers, such as 0-3,6; empty: all that the agent may use",
         check_cpu_list},
        {"run_as", "", "one user that all jobs run as when the agent is root; empty: each job has one of run_as_uids"},
        {"run_as_uids", "200000-265535",
         "user ids for jobs when the agent is root, one for each; empty: user fathom if it exists, else an id that "
         "nobody has, for all jobs",
         check_user_ids},
        {"shared_folders", "",
         "folders below /tmp, /var/tmp, /dev/shm and hidden home folders that jobs see, commas between them; they have "
         "their own otherwise",
         check_folders},
        {"home_folder", "read-only",
         "what jobs see of the agent's home folder when the agent is not root: read-only: what has no name with a dot "
         "in front, and known folders of programs; hidden: nothing; open: all, and may write there",
         check_one_of({"read-only", "hidden", "open"})},
    };
}

/// What comes to jobs, and what they leave.
std::vector<SettingSpec> staging_settings()
{
    return {
        {"input_folders", "",
         "folders, commas between them, below which inputs of jobs may be files of this center (file:///…); jobs' "
         "users must be able to read them; empty: none",
         check_folders},
        {"input_http", "off", "on: inputs of jobs may come by http, which anybody on the way can read and change",
         check_one_of({"on", "off"})},
        {"input_cache_bytes", "",
         "how much of inputs that came over the network with a SHA-256 is kept for later jobs, 0: nothing; empty: a "
         "twentieth of the state folder's disk, at a Slurm cluster of that of slurm_work_folder, 100 GB at most",
         check_disk_share},
        {"output_folders", "",
         "folders, commas between them, below which jobs may store outputs as files of this center (file:///…); jobs' "
         "users must be able to write there; empty: none",
         check_folders},
        {"output_http", "off", "on: jobs may send outputs by http, which anybody on the way can read and change",
         check_one_of({"on", "off"})},
    };
}

/// What jobs may do and have.
std::vector<SettingSpec> limit_settings()
{
    return {
        {"require_isolation", "off", "on: do not start unless jobs are separated in every way that the agent knows",
         check_one_of({"on", "off"})},
        {"probe_program", (own_folder() / "fathom-probe").string(), "the program that runs probes", check_not_empty},
        {"operator_keys", "", "file of the public keys (PEM) whose uploaded operators may run here; empty: none run"},
        {"output_limit_bytes", std::to_string(16LL << 20U), "how much of each output stream of a job is kept",
         check_integer(0, 1LL << 40U)},
        {"disk_bytes_per_processor", "",
         "what a job's files may take of the disk for each of its processors, 0: no limit; empty: nine tenths of the "
         "state folder's disk, shared by the processors that this center offers",
         check_disk_share},
        {"disk_files_per_processor", "",
         "how many files a job may have for each of its processors, 0: no limit; empty: a million, or as many as make "
         "nine tenths of the state folder's file system, shared by the processors that this center offers",
         check_disk_share},
        {"io_read_bytes_per_s_per_processor", "0",
         "what a job may read from the state folder's disk for each of its processors in a second, 0: no limit; needs "
         "control groups and a file system on a block device",
         check_integer(0, kMaxIoRate)},
        {"io_write_bytes_per_s_per_processor", "0", "what it may write, likewise", check_integer(0, kMaxIoRate)},
        {"io_reads_per_s_per_processor", "0", "how often it may read, likewise", check_integer(0, kMaxIoRate)},
        {"io_writes_per_s_per_processor", "0", "how often it may write, likewise", check_integer(0, kMaxIoRate)},
    };
}

/// What runs jobs, and what else the agent does.
std::vector<SettingSpec> run_settings()
{
    return {
        {"modules", "auto",
         "the file that defines `module` for bash, for jobs that name modules: auto: where Environment Modules or Lmod "
         "have it on this host; off: none; or its path",
         check_software},
        {"container_runtime", "auto",
         "the program that runs containers of jobs that name one: auto: apptainer, singularity or podman, whichever "
         "this host has; off: none; or its path",
         check_software},
        {"executor", "local",
         "what runs jobs: this host (local), the cluster that its Slurm has (slurm), or a Kubernetes cluster "
         "(kubernetes)",
         check_one_of({"local", "slurm", "kubernetes"})},
        {"keep_finished_hours", "0", "how long the folder of a finished job is kept after its end was reported",
         check_number(0, 8760)},
        {"remote_resources", "within",
         "what unit types the network's administrators may have this center offer: off: none but its file's own; "
         "within: the file's cores, devices and memory, cut otherwise; machine: all of `cores` and all devices",
         check_one_of({"off", "within", "machine"})},
        {"log_level", "info", "least level that is logged", check_one_of({"debug", "info", "warning", "error"})},
    };
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
