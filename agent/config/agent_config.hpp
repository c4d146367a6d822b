#pragma once

#include "agent/config/balance_table.hpp"
#include "agent/config/gpu_memory_table.hpp"
#include "agent/config/kubernetes_user_tables.hpp"
#include "agent/config/s3_tables.hpp"
#include "agent/config/slurm_user_tables.hpp"
#include "agent/config/staging_order.hpp"
#include "agent/config/sub_unit_tables.hpp"
#include "agent/config/unit_tables.hpp"
#include "agent/config/user_ids.hpp"
#include "core/base/ed25519.hpp"
#include "core/base/log.hpp"
#include "core/base/settings.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::agent {

/// What software jobs may have of the center's: each auto, off or a path.
struct SoftwareConfig {
    std::string modules = "auto";    ///< the file that defines `module` for bash
    std::string containers = "auto"; ///< apptainer, singularity or podman
};

/// How a center's Slurm is used.
struct SlurmConfig {
    std::filesystem::path programs = "/usr/bin"; ///< folder of sbatch, squeue, scancel, sinfo, scontrol and sacct
    std::filesystem::path settings;              ///< slurm.conf, for SLURM_CONF; empty: where Slurm looks itself
    std::filesystem::path work_folder;           ///< of jobs; the same path here and on the nodes
    std::vector<std::string> partitions;         ///< that the center offers; empty: all
    std::string account;                         ///< that jobs are charged to; empty: the user's default
    std::string qos;                             ///< quality of service; empty: the default
    /// Jobs of users that no `[[slurm_user]]` table is for are refused; else they run as `run_as`.
    bool refuses_unmapped = true;
    /// slurmrestd, to which orders go: `unix:/path/of/socket` or `http://127.0.0.1:6820`; empty: Slurm's programs take
    /// them.
    std::string rest{};
    std::filesystem::path token_file{}; ///< of `rest`: a secret, read for each request, never kept or logged
    /// So long Slurm may wait for nodes of one leaf switch for a job of several; 0: it is not asked to.
    std::int64_t switches_wait_s{};
};

/// How a center's Kubernetes cluster is used (docs/kubernetes.md).
struct KubernetesConfig {
    std::string api;               ///< `https://host:port`; empty where neither a setting nor a pod's environment says
    std::filesystem::path ca_file; ///< PEM
    std::filesystem::path token_file; ///< a secret: read for each request, never kept or logged
    std::string name_space;           ///< of Jobs; empty: that of the token's folder
    std::string center = "fathom";    ///< label value of the agent's own
    std::string image;                ///< of jobs
    std::string probe_image;          ///< of probes; empty: that of jobs
    std::vector<std::string> pull_secrets;
    std::filesystem::path work_folder;                   ///< of jobs; the same path here and in pods
    std::string volume_claim;                            ///< that has it; empty: it is the nodes'
    std::filesystem::path volume_folder;                 ///< where the claim's volume is seen; empty: at work_folder
    std::map<std::string, std::string> node_selector;    ///< labels of nodes that are offered
    std::vector<std::string> unit_labels;                ///< by which nodes are told apart
    std::map<std::string, std::string> device_resources; ///< resource type -> the device plugin's resource
    std::int64_t start_limit_s{600};
    std::int64_t grace_s{5};
    std::int64_t finished_ttl_s{86'400};
    std::string priority_class;
    bool refuses_unmapped = true;  ///< where there are [[kubernetes_user]] tables, jobs that none of them is for
    bool takes_job_images = false; ///< a job may name the image of its pod
};

/// The tables of the config file, which no flag can express.
struct AgentTables {
    std::vector<UnitCut> unit_types;                           ///< empty: one type "core" of one core each
    std::vector<DeviceDescription> devices;                    ///< beside those that are found
    std::vector<SubUnitRule> sub_units;                        ///< that may go to other centers
    std::map<std::string, std::string> environment;            ///< for every job at this center
    std::map<std::string, std::vector<std::string>> operators; ///< resource type -> ids; absent: all (M8, M9)
    BalanceConfig balance;                                     ///< off unless it says otherwise
    GpuMemoryConfig gpu_memory;                                ///< likewise
    S3Config s3;                                               ///< no object store unless it names one
    std::vector<SlurmUserRule> slurm_users;           ///< the first that is for a job counts; empty: one for all
    std::vector<KubernetesUserRule> kubernetes_users; ///< likewise
};

/// Whose uploaded operators may run at this center; nobody's without keys.
struct OperatorTrust {
    std::vector<PublicKey> keys;
    std::string pem; ///< the same as text, with whatever else stands in the administrator's file
};

/// What the network's administrators may have this center offer, instead of what its file says (M9).
enum class RemoteRule {
    kOff,     ///< nothing else
    kWithin,  ///< the file's own cores, devices and memory, cut otherwise
    kMachine, ///< all offered cores (`cores`) and all devices of the machine
};
std::string_view to_string(RemoteRule rule);

/// What jobs see of the home folder of the agent's user, where they run as that user.
enum class HomeRule {
    kReadOnly, ///< folders, programs and links with names that do not begin with a dot, and where tools put programs
    kHidden,   ///< nothing
    kOpen,     ///< all, and they may write there
};

/// Everything that an administrator can set.
struct AgentConfig {
    std::filesystem::path state_dir;
    std::vector<std::int64_t> cpus;     ///< that this center offers; empty: all allowed
    std::string run_as;                 ///< one user for all jobs when started as root; empty: see the next
    std::optional<UserIds> run_as_uids; ///< a user for each job when started as root; empty: one for all
    std::vector<std::filesystem::path> shared_folders; ///< that jobs see below /tmp, /var/tmp and /dev/shm
    HomeRule home_folder = HomeRule::kReadOnly;        ///< when not started as root
    StagingRule staging;                               ///< where inputs come from and outputs go to, besides https
    bool require_isolation = false;                    ///< rather no job than one that is not separated from others
    std::filesystem::path probe_program;
    OperatorTrust operator_trust;
    std::int64_t output_limit_bytes = 16LL << 20U;        ///< kept for each stream
    std::optional<std::int64_t> disk_bytes_per_processor; ///< for a job's files; 0: no limit; none: its share
    std::optional<std::int64_t> disk_files_per_processor; ///< in a job's folders; likewise
    std::optional<std::int64_t> input_cache_bytes; ///< kept of jobs' inputs; 0: none; none: its share of the disk
    // Of the disk of jobs' folders, for each processor of a job; 0: no limit.
    std::int64_t io_read_bytes_per_s_per_processor{};
    std::int64_t io_write_bytes_per_s_per_processor{};
    std::int64_t io_reads_per_s_per_processor{};
    std::int64_t io_writes_per_s_per_processor{};
    std::chrono::seconds keep_finished{0};
    SoftwareConfig software;
    bool uses_slurm = false; ///< else jobs run on this host
    SlurmConfig slurm;       ///< of `uses_slurm`
    bool uses_kubernetes = false;
    KubernetesConfig kubernetes; ///< of `uses_kubernetes`
    LogLevel log_level = LogLevel::kInfo;
    RemoteRule remote_resources = RemoteRule::kWithin;
    AgentTables tables;
    std::string tables_toml; ///< the same as text: the config file
};

/// Reads the tables of a config file; other keys are left alone.
/// @error kInvalid  with every field error, paths as in the file: `unit_type[1].cores_per_unit`.
Result<AgentTables> parse_agent_tables(const std::string& toml);

/// The settings of `fathom-agent run` and `fathom-agent catalog`.
SettingsProgram agent_settings(std::string name, std::string description, bool needs_state_dir);

/// All of it, from what read_settings() has joined. Blocks: reads the config file again for its tables, and the
/// file of operator keys.
/// @error kInvalid  a key's file does not hold what it should; the detail names the setting.
Result<AgentConfig> make_agent_config(const SettingsOutcome& outcome);

/// What of it counts from SIGHUP on, as text for the process that may not read these files itself.
std::string encode_changed_settings(const AgentConfig& config);
/// `present` with that.
/// @error kInvalid  not what encode_changed_settings() wrote.
Result<AgentConfig> with_changed_settings(AgentConfig present, const std::string& text);

/// The folder of this program's own file, where `fathom-probe` is by default.
std::filesystem::path own_folder();

} // namespace fathom::agent
