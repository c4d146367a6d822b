#include "agent/config/agent_setting_specs.hpp"

#include "agent/config/agent_config.hpp"
#include "agent/config/cpu_list.hpp"
#include "agent/config/user_ids.hpp"

#include <sstream>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxIoRate = 1LL << 40U;

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

} // namespace

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

} // namespace fathom::agent
