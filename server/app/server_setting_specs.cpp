#include "server/app/server_setting_specs.hpp"

#include "core/base/parse_number.hpp"
#include "core/net/address_networks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxNumber = 1000000000; // of jobs, and of MiB

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

/// 0, or at least as many as what is read of that age needs.
std::function<std::string(std::string_view)> check_days(std::int64_t least)
{
    return [least](std::string_view value) -> std::string {
        if (value == "0") return "";
        const std::string wrong = check_integer(least, 36500)(value);
        return wrong.empty() ? "" : "must be 0 or a whole number from " + std::to_string(least) + " to 36500";
    };
}

/// State folder, listeners, database, certificates.
std::vector<SettingSpec> listener_specs()
{
    return {
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
         "PEM file with a certificate for the REST listener and its chain; empty: the network's authority makes one",
         check_absolute},
        {"tls_key", "", "PEM file with its private key, which only root and fathomd may read", check_absolute},
    };
}

/// When centers are measured and count as silent, and what of their claims is computed again.
std::vector<SettingSpec> measurement_specs()
{
    return {
        {"metering_period_s", "604800", "seconds after which a center is measured again", check_integer(60, 31622400)},
        {"probe_refresh_period_s", "3600", "seconds between two looks for what is worth measuring again",
         check_integer(1, 604800)},
        {"probe_on_change", "on", "on: a center is measured when it joins, changes or asks; off: when somebody says so",
         check_one_of({"on", "off"})},
        {"network_hour_s", "3600",
         "seconds of an hour of the week that network windows are known by; less only in laboratories", check_hour},
        {"suspect_after_s", "30", "seconds of silence after which a center gets no new work", check_integer(3, 86400)},
        {"lost_after_s", "300", "seconds of silence after which a center's jobs count as lost",
         check_integer(1, 604800)},
        {"verify_program", "",
         "fathom-probe that computes a sample of what centers claim; empty for the one beside fathomd"},
        {"verify_one_in", "8",
         "of a unit type's probe results after the first, one in so many is computed by fathomd too; 0 for none",
         check_integer(0, 1000000)},
        {"verify_priority", "background",
         "background: fathomd computes only while a processor of its host is idle, and takes no more than a "
         "hundredth from others; normal: as any process does, for a host on which no jobs run",
         check_one_of({"background", "normal"})},
    };
}

/// When a center is closed to jobs, and opened again.
std::vector<SettingSpec> quarantine_specs()
{
    return {
        {"quarantine_failures", "5",
         "failed attempts of a center within the window that close it to jobs; 0: no center is ever closed so",
         check_integer(0, 1000000)},
        {"quarantine_share", "0.5", "and of its attempts in the window, the share that these must be",
         check_number(0, 1)},
        {"quarantine_window_s", "600", "seconds that the window reaches back", check_integer(1, 86400)},
        {"quarantine_quick_failure_s", "30",
         "a job that fails sooner counts as its center's failure when jobs of its type succeed elsewhere",
         check_integer(0, 86400)},
        {"quarantine_good_probes", "2", "good probes in a row that open a closed center again", check_integer(1, 100)},
        {"quarantine_probe_pause_s", "60",
         "seconds until a closed center is probed; doubled with each bad probe, an hour at most",
         check_integer(1, 3600)},
    };
}

/// Who issues bills, and where they are exported to.
std::vector<SettingSpec> bill_specs()
{
    return {
        {"network_name", "Fathom", "who operates the network: the issuer of its bills", {}},
        {"export_folder", "",
         "folder that scheduled exports of bills are written to, one folder in it for each schedule; empty: to none",
         check_absolute},
        {"s3_endpoint", "",
         "object store with Amazon's S3 interface that scheduled exports may go to: https://s3.example.org",
         check_https},
        {"s3_region", "us-east-1", "its region", check_not_empty},
        {"s3_access_key", "", "who fathomd is there"},
        {"s3_secret_key", "", "and its secret", nullptr, true},
        {"s3_ca_file", "", "PEM file with the authorities that may vouch for it; empty: the system's", check_absolute},
    };
}

/// When a GPU is recommended, and when jobs count as faster or slower than predicted.
std::vector<SettingSpec> prediction_specs()
{
    return {
        {"gpu_threshold", "1", "a GPU must be more than so many times faster than the CPU for jobs to be placed there",
         check_number(1, 1000)},
        {"drift_period_s", "60", "seconds between two looks for jobs that go otherwise than predicted",
         check_integer(1, 86400)},
        {"drift_jobs", "5",
         "jobs on a unit type since its last measurement, before it can be found to go otherwise; 0: never",
         check_integer(0, 1000000)},
        {"drift_threshold", "1.1", "so many times longer or shorter they must take", check_number(1, 100)},
        {"drift_pause_s", "3600", "seconds between two measurements of a unit type because of its jobs",
         check_integer(1, 31622400)},
    };
}

/// Whose jobs are taken.
std::vector<SettingSpec> project_specs()
{
    return {
        {"projects_must_exist", "on",
         "on: projects without settings and without earlier jobs are refused; off: any name is a project; auto: on "
         "as soon as a project has members",
         check_one_of({"auto", "on", "off"})},
    };
}

/// How long jobs and what is known of them are kept.
std::vector<SettingSpec> retention_specs()
{
    return {
        {"keep_jobs_days", "365",
         "days after its end until a job is removed, with its decisions and predictions; its events go up to a "
         "month later; reservations, maintenance windows and types of jobs that are gone likewise; 0: never",
         check_days(1)},
        {"keep_output_days", "90", "days after its end until what a job wrote is removed; 0: with the job",
         check_days(1)},
        {"keep_measurements_days", "730", "days until probe runs are removed that newer ones have replaced; 0: never",
         check_days(60)},
        {"keep_findings_days", "365",
         "days until findings about probes are removed that were dismissed or cost no trust; 0: never", check_days(30)},
        {"keep_audit_days", "1095", "days until entries of the audit log are removed; 0: never", check_days(1)},
        {"keep_usage_days", "1095", "days until what projects used is removed; 0: never", check_days(70)},
        {"keep_cycles_days", "7", "days until what schedulers decided on is removed; 0: never", check_days(1)},
        {"keep_cycles_mb", "1000", "megabytes of it that are kept; 0: none", check_integer(0, 1'000'000)},
        {"keep_balance_days", "7", "days until what balance loops did is removed; 0: never", check_days(1)},
        {"keep_balance_steps", "20000", "steps of each unit's balance loop that are kept; 0: none are taken",
         check_integer(0, 1'000'000)},
        {"keep_sub_units_days", "365",
         "days after their end until requests and grants of sub-units are removed, with the record of their changes; "
         "0: never",
         check_days(30)},
    };
}

/// How many jobs are taken, and how much of each.
std::vector<SettingSpec> job_specs()
{
    return {
        {"max_queued_of_token", "100000", "jobs that wait, of one token; 0: any number", check_integer(0, kMaxNumber)},
        {"max_queued_of_project", "200000", "jobs that wait, of one project; 0: any number",
         check_integer(0, kMaxNumber)},
        {"max_stored_mib_of_token", "16384", "MiB of kept jobs and their output, of one token; 0: any number",
         check_integer(0, kMaxNumber)},
        {"max_stored_mib_of_project", "65536", "MiB of kept jobs and their output, of one project; 0: any number",
         check_integer(0, kMaxNumber)},
        {"max_output_mib_of_job", "64", "MiB of a job's output that are kept; what comes after is not; 0: all is",
         check_integer(0, kMaxNumber)},
        {"max_fetched_output_mib", "256",
         "MiB of an output that passes through here from the center that keeps it; larger ones are had from where they "
         "were stored; 0: none passes",
         check_integer(0, kMaxNumber)},
        {"max_priority_of_users", "0",
         "priority that every submitter may give a job; operators and admins may give more", check_integer(0, 100)},
        {"min_free_mib", "1024",
         "MiB that must be free on the embedded database's disk for new jobs to be taken; 0: they always are",
         check_integer(0, kMaxNumber)},
    };
}

/// What the process itself takes and tells.
std::vector<SettingSpec> process_specs()
{
    return {
        {"io_threads", "0", "threads for the network; 0 for one per processor", check_integer(0, 1024)},
        {"database_connections", "8", "connections to PostgreSQL, one thread each", check_integer(1, 512)},
        {"connections_of_one_address", "1024",
         "connections at once of one IPv4 address or IPv6 /64 network to each listener; agents do not count",
         check_integer(1, 1000000)},
        {"requests_per_s_of_token", "1000",
         "REST requests a second of one token, or of one account's browsers, to one fathomd; ten times as many at "
         "once after a rest; 0: any number",
         check_integer(0, 1000000)},
        {"reads_at_once_of_token", "64",
         "GET requests of one token, or of one account's browsers, in work at once in one fathomd; 0: any number",
         check_integer(0, 1000000)},
        {"changes_at_once_of_token", "256",
         "other requests (POST, PUT, PATCH, DELETE) of one token, or of one account's browsers, in work at once in one "
         "fathomd; 0: any number",
         check_integer(0, 1000000)},
        {"metrics_access", "token", "who may read /metrics: token: whoever has one; open: all who reach the listener",
         check_one_of({"token", "open"})},
        {"max_token_days", "0", "days that an API token may be good, and is unless it is said; 0: for ever",
         check_integer(0, 3660)},
        {"proxy_networks", "",
         "addresses and networks (10.0.0.0/8), separated by commas, of balancers whose connections begin with a "
         "PROXY header",
         net::check_address_networks},
        {"log_level", "info", "least level that is logged", check_one_of({"debug", "info", "warning", "error"})},
    };
}

/// Limits were named most_… and least_… in the version before.
std::string former_key_of(const std::string& key)
{
    constexpr std::array<std::string_view, 9> kRenamed{
        "max_queued_of_token",       "max_queued_of_project", "max_stored_mib_of_token",
        "max_stored_mib_of_project", "max_output_mib_of_job", "max_fetched_output_mib",
        "max_priority_of_users",     "min_free_mib",          "max_token_days"};
    if (std::find(kRenamed.begin(), kRenamed.end(), key) == kRenamed.end()) return {};
    return (key.starts_with("min") ? "least" : "most") + key.substr(3);
}

} // namespace

std::vector<SettingSpec> server_setting_specs()
{
    std::vector<SettingSpec> specs;
    for (const auto& group : {listener_specs, measurement_specs, quarantine_specs, bill_specs, prediction_specs,
                              project_specs, retention_specs, job_specs, process_specs}) {
        for (SettingSpec& spec : group()) {
            spec.former_key = former_key_of(spec.key);
            specs.push_back(std::move(spec));
        }
    }
    return specs;
}

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

std::optional<Timestamp::duration> parse_hour(std::string_view value)
{
    const auto seconds = parse_number<double>(value);
    if (!seconds || !(*seconds >= 0.1 && *seconds <= 3600)) return std::nullopt;
    return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

} // namespace fathom::server
