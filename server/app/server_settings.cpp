#include "server/app/server_settings.hpp"

#include "core/base/parse_number.hpp"
#include "server/app/oidc_server_settings.hpp"
#include "server/identity/authority.hpp"

#include <cmath>
#include <optional>
#include <thread>

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxNumber = 1000000000; // of jobs, and of MiB

std::vector<std::string> split_names(std::string_view text)
{
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view name = text.substr(0, comma);
        while (name.starts_with(' '))
            name.remove_prefix(1);
        while (name.ends_with(' '))
            name.remove_suffix(1);
        if (!name.empty()) names.emplace_back(name);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return names;
}

std::string check_names(std::string_view value)
{
    for (const std::string& name : split_names(value)) {
        const bool good = std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '*';
        });
        if (!good || name.size() > 253) return "must be host names or IP addresses, separated by commas";
    }
    return "";
}

/// Seconds with at most three decimals, 0.1 to 3600; empty when it is not that.
std::optional<Timestamp::duration> parse_hour(std::string_view value)
{
    const auto seconds = parse_number<double>(value);
    if (!seconds || !(*seconds >= 0.1 && *seconds <= 3600)) return std::nullopt;
    return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

std::string check_hour(std::string_view value)
{
    return parse_hour(value) ? "" : "must be a number of seconds from 0.1 to 3600";
}

std::string check_absolute(std::string_view value)
{
    return value.empty() || value.front() == '/' ? "" : "must be an absolute path";
}

std::string check_https(std::string_view value)
{
    constexpr std::string_view kScheme = "https://";
    const bool good = value.empty() || (value.starts_with(kScheme) && value.size() > kScheme.size() &&
                                        value.find_first_of(" ?#@") == std::string_view::npos);
    return good ? "" : "must be an address that begins with https://";
}

std::string default_state_dir()
{
    // Read before any thread starts.
    const char* const home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
    return home == nullptr ? "/var/lib/fathom" : std::string(home) + "/.local/state/fathom";
}

QuarantineRule to_quarantine_rule(const Settings& settings)
{
    QuarantineRule rule;
    rule.window = std::chrono::seconds(settings.integer("quarantine_window_s"));
    rule.least_failures = settings.integer("quarantine_failures");
    rule.failure_share = settings.number("quarantine_share");
    rule.quick_failure_s = settings.number("quarantine_quick_failure_s");
    rule.good_probes = settings.integer("quarantine_good_probes");
    rule.probe_pause = std::chrono::seconds(settings.integer("quarantine_probe_pause_s"));
    return rule;
}

UnknownProjects to_unknown_projects(const std::string& text)
{
    if (text == "on") return UnknownProjects::kRefuse;
    if (text == "off") return UnknownProjects::kAccept;
    return UnknownProjects::kRefuseOnceMembers; // the setting's check allows no other
}

RetentionRule to_retention_rule(const Settings& settings)
{
    const auto days = [&](const char* name) { return std::chrono::days(settings.integer(name)); };
    return {.jobs = days("keep_jobs_days"),
            .output = days("keep_output_days"),
            .measurements = days("keep_measurements_days"),
            .audit = days("keep_audit_days"),
            .usage = days("keep_usage_days"),
            .cycles = days("keep_cycles_days"),
            .cycle_bytes = settings.integer("keep_cycles_mb") * 1'000'000,
            .balance = days("keep_balance_days"),
            .balance_steps = settings.integer("keep_balance_steps")};
}

/// 0, or at least as many as what is read of that age needs.
std::function<std::string(std::string_view)> check_days(std::int64_t least)
{
    return [least](std::string_view value) -> std::string {
        if (value == "0") return "";
        const std::string wrong = check_integer(least, 36500)(value);
        return wrong.empty() ? "" : "must be 0 or a whole number from " + std::to_string(least) + " to 36500";
    };
}

/// For large files that need not outlive the process.
std::string scratch_dir()
{
    // Read before any thread starts.
    const char* const chosen = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe)
    return chosen == nullptr || *chosen == '\0' ? "/var/tmp" : chosen;
}

Result<ExportPlaces> to_export_places(const Settings& settings)
{
    ExportPlaces places{.folder = settings.text("export_folder"),
                        .store = {.endpoint = settings.text("s3_endpoint"),
                                  .region = settings.text("s3_region"),
                                  .access_key = settings.text("s3_access_key"),
                                  .secret_key = settings.text("s3_secret_key"),
                                  .ca_file = settings.text("s3_ca_file")},
                        .scratch = scratch_dir()};
    while (places.store.endpoint.ends_with('/'))
        places.store.endpoint.pop_back();
    const bool has_store = !places.store.endpoint.empty();
    if (has_store && (places.store.access_key.empty() || places.store.secret_key.empty()))
        return Error{Errc::kInvalid, "s3_endpoint needs s3_access_key and s3_secret_key"};
    return places;
}

DriftRule to_drift_rule(const Settings& settings)
{
    return {.least_jobs = settings.integer("drift_jobs"),
            .threshold = settings.number("drift_threshold"),
            .pause = std::chrono::seconds(settings.integer("drift_pause_s"))};
}

} // namespace

SettingsProgram server_program()
{
    SettingsProgram program{
        .name = "fathomd",
        .description = "The Fathom metascheduler: measures centers, routes jobs by what was measured.\n"
                       "With no database setting it runs a private PostgreSQL in its state folder.\n"
                       "Commands, each with --help: fathomd backup, fathomd restore, fathomd move-database.",
        .environment_prefix = "FATHOMD_",
        .specs = {
            {"state_dir", default_state_dir(),
             "folder for the CA certificate, the first admin token and the embedded database", check_not_empty},
            {"listen", "127.0.0.1:8443", "address of the REST listener", check_address_port},
            {"agent_listen", "127.0.0.1:8444", "address of the listener for agents", check_address_port},
            {"agent_public_port", "0",
             "port that agents are told when they enrol: a balancer's before the listener; 0: that of agent_listen",
             check_integer(0, 65535)},
            {"database", "", "postgresql:// URL; empty for the embedded PostgreSQL", nullptr, true},
            {"public_names", "", "further names and addresses for the server's certificate, separated by commas",
             check_names},
            {"authority_key_file", "",
             "file with the key that the network's authority is encrypted with in the database, the same for all "
             "replicas; made with the authority; empty: authority.key in the state folder",
             check_absolute},
            {"tls_certificate", "",
             "PEM file with a certificate for the REST listener and its chain; empty: the network's authority makes "
             "one",
             check_absolute},
            {"tls_key", "", "PEM file with its private key, which only root and fathomd may read", check_absolute},
            {"metering_period_s", "604800", "seconds after which a center is measured again",
             check_integer(60, 31622400)},
            {"probe_refresh_period_s", "3600", "seconds between two looks for what is worth measuring again",
             check_integer(1, 604800)},
            {"probe_on_change", "on",
             "on: a center is measured when it joins, changes or asks; off: when somebody says so",
             check_one_of({"on", "off"})},
            {"network_hour_s", "3600",
             "seconds of an hour of the week that network windows are known by; less only in laboratories", check_hour},
            {"suspect_after_s", "30", "seconds of silence after which a center gets no new work",
             check_integer(3, 86400)},
            {"lost_after_s", "300", "seconds of silence after which a center's jobs count as lost",
             check_integer(1, 604800)},
            {"verify_program", "",
             "fathom-probe that computes a sample of what centers claim; empty for the one beside fathomd"},
            {"verify_one_in", "8",
             "of a unit type's probe results after the first, one in so many is computed by fathomd too; 0 for none",
             check_integer(0, 1000000)},
            {"verify_priority", "background",
             "background: fathomd computes only while a processor of its host is idle, and takes no more than a "
             "hundredth "
             "from others; normal: as any process does, for a host on which no jobs run",
             check_one_of({"background", "normal"})},
            {"quarantine_failures", "5",
             "failed attempts of a center within the window that close it to jobs; 0: no center is ever closed so",
             check_integer(0, 1000000)},
            {"quarantine_share", "0.5", "and of its attempts in the window, the share that these must be",
             check_number(0, 1)},
            {"quarantine_window_s", "600", "seconds that the window reaches back", check_integer(1, 86400)},
            {"quarantine_quick_failure_s", "30",
             "a job that fails sooner counts as its center's failure when jobs of its type succeed elsewhere",
             check_integer(0, 86400)},
            {"quarantine_good_probes", "2", "good probes in a row that open a closed center again",
             check_integer(1, 100)},
            {"quarantine_probe_pause_s", "60",
             "seconds until a closed center is probed; doubled with each bad probe, an hour at most",
             check_integer(1, 3600)},
            {"network_name", "Fathom", "who operates the network: the issuer of its bills", {}},
            {"export_folder", "",
             "folder that scheduled exports of bills are written to, one folder in it for each schedule; empty: to "
             "none",
             check_absolute},
            {"s3_endpoint", "",
             "object store with Amazon's S3 interface that scheduled exports may go to: https://s3.example.org",
             check_https},
            {"s3_region", "us-east-1", "its region", check_not_empty},
            {"s3_access_key", "", "who fathomd is there"},
            {"s3_secret_key", "", "and its secret", nullptr, true},
            {"s3_ca_file", "", "PEM file with the authorities that may vouch for it; empty: the system's",
             check_absolute},
            {"gpu_threshold", "1", "a GPU must be more than so many times faster than the CPU to be recommended",
             check_number(1, 1000)},
            {"drift_period_s", "60", "seconds between two looks for jobs that go otherwise than predicted",
             check_integer(1, 86400)},
            {"drift_jobs", "5",
             "jobs on a unit type since its last measurement, before it can be found to go otherwise; 0: never",
             check_integer(0, 1000000)},
            {"drift_threshold", "1.1", "so many times longer or shorter they must take", check_number(1, 100)},
            {"drift_pause_s", "3600", "seconds between two measurements of a unit type because of its jobs",
             check_integer(1, 31622400)},
            {"projects_must_exist", "on",
             "on: projects without settings and without earlier jobs are refused; off: any name is a project; auto: on "
             "as soon as a project has members",
             check_one_of({"auto", "on", "off"})},
            {"keep_jobs_days", "365",
             "days after its end until a job is removed, with its decisions and predictions; its events go up to a "
             "month later; 0: never",
             check_days(1)},
            {"keep_output_days", "90", "days after its end until what a job wrote is removed; 0: with the job",
             check_days(1)},
            {"keep_measurements_days", "730",
             "days until probe runs are removed that newer ones have replaced; 0: never", check_days(60)},
            {"keep_audit_days", "1095", "days until entries of the audit log are removed; 0: never", check_days(1)},
            {"keep_usage_days", "1095", "days until what projects used is removed; 0: never", check_days(70)},
            {"keep_cycles_days", "7", "days until what schedulers decided on is removed; 0: never", check_days(1)},
            {"keep_cycles_mb", "1000", "megabytes of it that are kept; 0: none", check_integer(0, 1'000'000)},
            {"keep_balance_days", "7", "days until what balance loops did is removed; 0: never", check_days(1)},
            {"keep_balance_steps", "20000", "steps of each unit's balance loop that are kept; 0: none are taken",
             check_integer(0, 1'000'000)},
            {"most_queued_of_token", "100000", "jobs that wait, of one token; 0: any number",
             check_integer(0, kMaxNumber)},
            {"most_queued_of_project", "200000", "jobs that wait, of one project; 0: any number",
             check_integer(0, kMaxNumber)},
            {"most_stored_mib_of_token", "16384", "MiB of kept jobs and their output, of one token; 0: any number",
             check_integer(0, kMaxNumber)},
            {"most_stored_mib_of_project", "65536", "MiB of kept jobs and their output, of one project; 0: any number",
             check_integer(0, kMaxNumber)},
            {"most_output_mib_of_job", "64", "MiB of a job's output that are kept; what comes after is not; 0: all is",
             check_integer(0, kMaxNumber)},
            {"most_priority_of_users", "0",
             "priority that every submitter may give a job; operators and admins may give more", check_integer(0, 100)},
            {"least_free_mib", "1024",
             "MiB that must be free on the embedded database's disk for new jobs to be taken; 0: they always are",
             check_integer(0, kMaxNumber)},
            {"io_threads", "0", "threads for the network; 0 for one per processor", check_integer(0, 1024)},
            {"database_connections", "8", "connections to PostgreSQL, one thread each", check_integer(1, 512)},
            {"connections_of_one_address", "1024",
             "connections at once of one IPv4 address or IPv6 /64 network to each listener; agents do not count",
             check_integer(1, 1000000)},
            {"requests_per_s_of_token", "1000",
             "REST requests a second of one token, or of one account's browsers, to one fathomd; ten times as many at "
             "once after a rest; 0: any number",
             check_integer(0, 1000000)},
            {"metrics_access", "token",
             "who may read /metrics: token: whoever has one; open: all who reach the listener",
             check_one_of({"token", "open"})},
            {"most_token_days", "0", "days that an API token may be good, and is unless it is said; 0: for ever",
             check_integer(0, 3660)},
            {"proxy_networks", "",
             "addresses and networks (10.0.0.0/8), separated by commas, of balancers whose connections begin with a "
             "PROXY "
             "header",
             net::check_address_networks},
            {"log_level", "info", "least level that is logged", check_one_of({"debug", "info", "warning", "error"})},
        }};
    for (SettingSpec& spec : oidc_setting_specs())
        program.specs.push_back(std::move(spec));
    return program;
}

LogLevel parse_log_level(const std::string& text)
{
    if (text == "debug") return LogLevel::kDebug;
    if (text == "warning") return LogLevel::kWarning;
    if (text == "error") return LogLevel::kError;
    return LogLevel::kInfo; // the setting's check allows no other
}

Result<ServerSettings> to_server_settings(const Settings& settings)
{
    ServerSettings typed;
    std::error_code error;
    typed.state_dir = std::filesystem::absolute(settings.text("state_dir"), error).lexically_normal();
    if (error) return Error{Errc::kInvalid, "state_dir: " + error.message()};
    typed.listen = parse_address_port(settings.text("listen")).value(); // checked by read_settings
    typed.agent_listen = parse_address_port(settings.text("agent_listen")).value();
    const std::int64_t told_port = settings.integer("agent_public_port");
    typed.agent_public_port = told_port > 0 ? static_cast<std::uint16_t>(told_port) : typed.agent_listen.port;
    typed.database = settings.text("database");
    typed.public_names = split_names(settings.text("public_names"));
    typed.authority_key_file = settings.text("authority_key_file");
    if (typed.authority_key_file.empty()) typed.authority_key_file = typed.state_dir / kAuthorityKeyFile;
    typed.certificate_file = settings.text("tls_certificate");
    typed.certificate_key_file = settings.text("tls_key");
    if (typed.certificate_file.empty() != typed.certificate_key_file.empty())
        return Error{Errc::kInvalid, "tls_certificate and tls_key need each other"};
    typed.metering_period = std::chrono::seconds(settings.integer("metering_period_s"));
    typed.network_calendar.hour = parse_hour(settings.text("network_hour_s")).value(); // checked by read_settings
    typed.probe_refresh_period = std::chrono::seconds(settings.integer("probe_refresh_period_s"));
    typed.probe_on_change = settings.text("probe_on_change") == "on";
    typed.suspect_after = std::chrono::seconds(settings.integer("suspect_after_s"));
    typed.lost_after = std::chrono::seconds(settings.integer("lost_after_s"));
    if (typed.lost_after <= typed.suspect_after)
        return Error{Errc::kInvalid, "lost_after_s must be greater than suspect_after_s"};
    typed.verify_program = settings.text("verify_program");
    typed.verifies_in_background = settings.text("verify_priority") == "background";
    typed.verify_one_in = settings.integer("verify_one_in");
    typed.network_name = settings.text("network_name");
    typed.gpu_threshold = settings.number("gpu_threshold");
    Result<ExportPlaces> exports = to_export_places(settings);
    if (!exports) return exports.error();
    typed.exports = std::move(*exports);
    Result<OidcSettings> oidc = to_oidc_settings(settings);
    if (!oidc) return oidc.error();
    typed.oidc = std::move(*oidc);
    typed.quarantine = to_quarantine_rule(settings);
    typed.drift = to_drift_rule(settings);
    typed.drift_period = std::chrono::seconds(settings.integer("drift_period_s"));
    typed.unknown_projects = to_unknown_projects(settings.text("projects_must_exist"));
    typed.keep = to_retention_rule(settings);
    const auto bytes = [&](const char* name) { return settings.integer(name) << 20U; };
    typed.quota = {.queued_of_token = settings.integer("most_queued_of_token"),
                   .queued_of_project = settings.integer("most_queued_of_project"),
                   .stored_bytes_of_token = bytes("most_stored_mib_of_token"),
                   .stored_bytes_of_project = bytes("most_stored_mib_of_project")};
    typed.most_priority = settings.integer("most_priority_of_users");
    typed.most_output_bytes = bytes("most_output_mib_of_job");
    typed.least_free_bytes = static_cast<std::uint64_t>(settings.integer("least_free_mib")) << 20U;
    const std::int64_t threads = settings.integer("io_threads");
    typed.io_threads =
        threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
    typed.database_connections = static_cast<std::size_t>(settings.integer("database_connections"));
    typed.connections_of_one_address = static_cast<std::size_t>(settings.integer("connections_of_one_address"));
    typed.requests_per_s_of_token = settings.integer("requests_per_s_of_token");
    typed.are_metrics_open = settings.text("metrics_access") == "open";
    typed.longest_token = std::chrono::days(settings.integer("most_token_days"));
    typed.proxies = net::AddressNetworks::parse(settings.text("proxy_networks")).value(); // checked by read_settings
    typed.log_level = parse_log_level(settings.text("log_level"));
    return typed;
}

} // namespace fathom::server
