#include "server/app/server_settings.hpp"

#include "server/app/library_server_settings.hpp"
#include "server/app/oidc_server_settings.hpp"
#include "server/app/server_setting_specs.hpp"
#include "server/identity/authority.hpp"

#include <thread>

namespace fathom::server {
namespace {

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
            .findings = days("keep_findings_days"),
            .audit = days("keep_audit_days"),
            .usage = days("keep_usage_days"),
            .cycles = days("keep_cycles_days"),
            .cycle_bytes = settings.integer("keep_cycles_mb") * 1'000'000,
            .balance = days("keep_balance_days"),
            .balance_steps = settings.integer("keep_balance_steps"),
            .sub_units = days("keep_sub_units_days")};
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

/// State folder, listeners, database, certificates.
Result<void> read_listeners(const Settings& settings, ServerSettings& typed)
{
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
    return {};
}

std::int64_t bytes_of_mib(const Settings& settings, const char* name)
{
    return settings.integer(name) << 20U;
}

JobQuota to_job_quota(const Settings& settings)
{
    return {.queued_of_token = settings.integer("max_queued_of_token"),
            .queued_of_project = settings.integer("max_queued_of_project"),
            .stored_bytes_of_token = bytes_of_mib(settings, "max_stored_mib_of_token"),
            .stored_bytes_of_project = bytes_of_mib(settings, "max_stored_mib_of_project")};
}

} // namespace

SettingsProgram server_program()
{
    SettingsProgram program{.name = "fathomd",
                            .description =
                                "The Fathom metascheduler: measures centers, routes jobs by what was measured.\n"
                                "With no database setting it runs a private PostgreSQL in its state folder.\n"
                                "Commands, each with --help: fathomd backup, fathomd restore, fathomd move-database.",
                            .environment_prefix = "FATHOMD_",
                            .specs = server_setting_specs()};
    for (const auto& group : {oidc_setting_specs, library_setting_specs}) {
        for (SettingSpec& spec : group())
            program.specs.push_back(std::move(spec));
    }
    return program;
}

/// How much is done at once, and by whom.
void read_capacity(const Settings& settings, ServerSettings& typed)
{
    const std::int64_t threads = settings.integer("io_threads");
    typed.io_threads =
        threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
    typed.database_connections = static_cast<std::size_t>(settings.integer("database_connections"));
    typed.connections_of_one_address = static_cast<std::size_t>(settings.integer("connections_of_one_address"));
    typed.requests_per_s_of_token = settings.integer("requests_per_s_of_token");
    typed.reads_at_once_of_token = static_cast<std::size_t>(settings.integer("reads_at_once_of_token"));
    typed.changes_at_once_of_token = static_cast<std::size_t>(settings.integer("changes_at_once_of_token"));
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
    if (Result<void> done = read_listeners(settings, typed); !done) return done.error();
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
    Result<LibraryPlace> library = to_library_place(settings);
    if (!library) return library.error();
    typed.library = std::move(*library);
    typed.quarantine = to_quarantine_rule(settings);
    typed.drift = to_drift_rule(settings);
    typed.drift_period = std::chrono::seconds(settings.integer("drift_period_s"));
    typed.unknown_projects = to_unknown_projects(settings.text("projects_must_exist"));
    typed.keep = to_retention_rule(settings);
    typed.quota = to_job_quota(settings);
    typed.most_priority = settings.integer("max_priority_of_users");
    typed.most_output_bytes = bytes_of_mib(settings, "max_output_mib_of_job");
    typed.most_fetched_output_bytes = bytes_of_mib(settings, "max_fetched_output_mib");
    typed.least_free_bytes = static_cast<std::uint64_t>(bytes_of_mib(settings, "min_free_mib"));
    read_capacity(settings, typed);
    typed.are_metrics_open = settings.text("metrics_access") == "open";
    typed.longest_token = std::chrono::days(settings.integer("max_token_days"));
    typed.proxies = net::AddressNetworks::parse(settings.text("proxy_networks")).value(); // checked by read_settings
    typed.log_level = parse_log_level(settings.text("log_level"));
    return typed;
}

} // namespace fathom::server
