#include "agent/config/slurm_settings.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace fathom::agent {
namespace {

std::vector<std::string> partitions_of(const std::string& text)
{
    std::vector<std::string> names;
    for (const std::string_view part : split_text(text, ',')) {
        if (!part.empty()) names.emplace_back(part);
    }
    return names;
}

/// Of what becomes part of a batch script's options.
std::string check_slurm_names(std::string_view text)
{
    const auto is_fine = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_-.,").find(static_cast<char>(c)) != std::string_view::npos;
    };
    return std::all_of(text.begin(), text.end(), is_fine) ? "" : "may have letters, digits and _ - . only";
}

std::string check_work_folder(std::string_view text)
{
    if (text.empty()) return {};
    const bool is_plain = text.find_first_of(" \t\n\"'\\%$`") == std::string_view::npos;
    return text[0] == '/' && is_plain ? "" : "must be an absolute path without spaces, quotes, %, $ and backslashes";
}

/// A socket, or TCP that does not leave this host: the token that is sent is a secret, and slurmrestd has no TLS.
std::string check_rest(std::string_view text)
{
    constexpr std::size_t kMaxSocketPath = 107;
    if (text.empty()) return {};
    if (text.starts_with("unix:/")) {
        const std::string_view path = text.substr(5);
        return path.size() <= kMaxSocketPath ? "" : "names a socket with a path of more than 107 characters";
    }
    for (const std::string_view host :
         std::array<std::string_view, 3>{"http://127.0.0.1:", "http://[::1]:", "http://localhost:"}) {
        if (!text.starts_with(host)) continue;
        const auto port = parse_number<int>(text.substr(host.size()));
        return port && *port > 0 && *port < 65'536 ? "" : "has no port";
    }
    return "must be unix:/path or http://127.0.0.1:port: the token is not sent to another host";
}

} // namespace

std::vector<SettingSpec> slurm_settings()
{
    return {
        {"slurm_work_folder", "",
         "with Slurm: folder of jobs' files, at the same path here and on the nodes; empty: attempts in state_dir",
         check_work_folder},
        {"slurm_partitions", "", "with Slurm: partitions to offer, commas between them; empty: all", check_slurm_names},
        {"slurm_account", "", "with Slurm: account that jobs are charged to; empty: the user's default",
         check_slurm_names},
        {"slurm_qos", "", "with Slurm: quality of service of jobs; empty: the default", check_slurm_names},
        {"slurm_unmapped", "refuse",
         "with Slurm and [[slurm_user]] tables: jobs of users that none of them is for are refused (refuse), or run as "
         "run_as (run_as)",
         check_one_of({"refuse", "run_as"})},
        {"slurm_programs", "/usr/bin", "with Slurm: folder of sbatch, squeue, scancel, sinfo, scontrol and sacct",
         check_not_empty},
        {"slurm_conf", "", "with Slurm: its slurm.conf; empty: where Slurm's own programs look"},
        {"slurm_rest", "",
         "with Slurm: its slurmrestd (v0.0.38), which jobs are submitted, looked at and ended by: unix:/path of its "
         "socket, or http://127.0.0.1:port; empty: by sbatch, squeue, sacct and scancel",
         check_rest},
        {"slurm_switches_wait_s", "0",
         "with Slurm: so long it may wait for nodes of one leaf switch for a job of several nodes (sbatch "
         "--switches=1@…); "
         "0: it is not asked to",
         check_integer(0, 604'800)},
        {"slurm_token_file", "",
         "with slurm_rest: file of the token (scontrol token), with mode 600; read for each request"},
    };
}

Result<SlurmConfig> read_slurm_settings(const Settings& settings)
{
    SlurmConfig config;
    config.programs = settings.text("slurm_programs");
    config.settings = settings.text("slurm_conf");
    config.work_folder = settings.text("slurm_work_folder");
    config.partitions = partitions_of(settings.text("slurm_partitions"));
    config.account = settings.text("slurm_account");
    config.qos = settings.text("slurm_qos");
    config.refuses_unmapped = settings.text("slurm_unmapped") == "refuse";
    config.rest = settings.text("slurm_rest");
    config.token_file = settings.text("slurm_token_file");
    if (!config.rest.empty() && config.token_file.empty())
        return Error{Errc::kInvalid, "slurm_rest needs slurm_token_file: slurmrestd answers to a token only"};
    config.switches_wait_s = settings.integer("slurm_switches_wait_s");
    if (!config.rest.empty() && config.switches_wait_s > 0)
        return Error{Errc::kInvalid,
                     "slurm_switches_wait_s cannot be had with slurm_rest: slurmrestd (v0.0.38) takes no word of "
                     "switches; leave one of them out"};
    return config;
}

} // namespace fathom::agent
