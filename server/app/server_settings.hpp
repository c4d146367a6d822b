#pragma once

#include "core/base/log.hpp"
#include "core/base/settings.hpp"
#include "core/decide/capacity/network_window.hpp"
#include "core/decide/trust/health.hpp"
#include "core/net/address_networks.hpp"
#include "server/api/unknown_projects.hpp"
#include "server/billing/export_destination.hpp"
#include "server/identity/oidc/oidc_settings.hpp"
#include "server/jobs/job_quota.hpp"
#include "server/learning/drift_watch.hpp"
#include "server/operators/followed_library.hpp"
#include "server/retention/retention_task.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fathom::server {

/// fathomd's settings, typed.
struct ServerSettings {
    std::filesystem::path state_dir; ///< absolute
    AddressPort listen;
    AddressPort agent_listen;
    std::uint16_t agent_public_port{}; ///< that agents are told
    std::string database; ///< libpq URL; empty: the embedded PostgreSQL. May hold a password: never log it.
    std::vector<std::string> public_names;
    std::filesystem::path authority_key_file;
    std::filesystem::path certificate_file; ///< PEM, of the REST listener; empty: the network's authority makes one
    std::filesystem::path certificate_key_file;
    std::chrono::seconds metering_period{};
    std::chrono::seconds probe_refresh_period{};
    bool probe_on_change{true}; ///< a center whose catalog changed, or that asks, is measured without anybody's order
    NetworkCalendar network_calendar;
    std::chrono::seconds suspect_after{};
    std::chrono::seconds lost_after{};
    std::string verify_program;        ///< a fathom-probe; empty: the one beside fathomd
    std::string network_name;          ///< who operates it, for bills
    ExportPlaces exports;              ///< of bills
    double gpu_threshold{1};           ///< S6: what a GPU's speed-up must be above
    bool verifies_in_background{true}; ///< verify_priority
    std::int64_t verify_one_in{};      ///< of a unit type's results after the first; 0: none of them
    QuarantineRule quarantine;
    DriftRule drift;
    std::chrono::seconds drift_period{}; ///< between two looks for unit types that have drifted
    UnknownProjects unknown_projects{UnknownProjects::kRefuseOnceMembers}; ///< projects_must_exist
    RetentionRule keep;                                                    ///< for how long what has ended is kept
    JobQuota quota;                                                        ///< of each token and each project
    std::int64_t most_priority{};             ///< of jobs whose submitters are no operators
    std::int64_t most_output_bytes{};         ///< that are kept of a job; 0: all
    std::int64_t most_fetched_output_bytes{}; ///< of a file that passes from its center to a client; 0: none does
    std::uint64_t least_free_bytes{}; ///< of the embedded database's disk; with less no jobs are taken; 0: never
    std::size_t io_threads{};
    std::size_t database_connections{};
    OidcSettings oidc;                        ///< who else signs people in
    LibraryPlace library;                     ///< whose library of operators is copied
    bool are_metrics_open{};                  ///< /metrics without a token
    std::chrono::seconds longest_token{};     ///< how long new API tokens may be good; 0: for ever
    net::AddressNetworks proxies;             ///< of balancers that speak the PROXY protocol
    std::size_t connections_of_one_address{}; ///< IPv4 address or IPv6 /64 network, on each listener
    std::int64_t requests_per_s_of_token{};   ///< to this process; ten seconds' worth at once; 0: any number
    std::size_t reads_at_once_of_token{};     ///< GET requests in work in this process; 0: any number
    std::size_t changes_at_once_of_token{};   ///< the same of all other requests
    LogLevel log_level{LogLevel::kInfo};
};

/// The program's description for read_settings().
SettingsProgram server_program();

/// Of the setting log_level, which was checked.
LogLevel parse_log_level(const std::string& text);

/// @error kInvalid  values that do not fit together; the detail names them.
Result<ServerSettings> to_server_settings(const Settings& settings);

} // namespace fathom::server
