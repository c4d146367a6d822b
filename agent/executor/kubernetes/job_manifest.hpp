#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/batch/batch_folder.hpp"

#include <map>

namespace fathom::agent {

/// How Jobs of a center are made.
struct JobManifestOptions {
    std::string center;                                 ///< the label's value
    std::string image;                                  ///< pod_image()
    std::vector<std::string> pull_secrets{};            ///< names
    std::string priority_class{};                       ///< empty: the cluster's default
    std::map<std::string, std::string> node_selector{}; ///< that every node offered has
    unsigned uid{};                                     ///< that pods run as; not root's
    unsigned gid{};
    std::string volume_claim{};            ///< empty: folders of the node
    std::filesystem::path volume_folder{}; ///< where the claim's volume is seen; of nodes: the work folder
    std::filesystem::path programs{};      ///< folder of fathom-probe; mounted where it lies in volume_folder
    std::filesystem::path input_cache{};   ///< of jobs with inputs; empty: none is kept
    std::vector<std::filesystem::path> input_folders{};
    std::vector<std::filesystem::path> output_folders{};
    std::int64_t grace_s{5};
    std::int64_t finished_ttl_s{86'400};
    std::int64_t start_limit_s{600}; ///< on the node, before the program begins
};

/// The image of an order's pod: the one that the job names (`container`), else the center's for such orders.
/// @error kInfeasible  it needs what no pod has here: modules, an image where jobs may name none, or one that is a
/// file.
Result<std::string> pod_image(const AttemptOrder& order, const KubernetesConfig& config);

/// The name of an attempt's Job: `fathom-att-01k…`.
std::string job_name(const AttemptId& id);

/// A text as a label's value: at most 63 letters, digits and _ - . that begin and end with a letter or digit; what is
/// none of them becomes a dash.
std::string label_value(std::string_view text);

/// `a=b&c=d`, or with commas, as labels and their values; a label without a value has an empty one.
/// @error kInvalid  a name that no label has.
Result<std::map<std::string, std::string>> parse_label_selector(std::string_view text);

/// The Job of an attempt, of one pod with one container, for the API server.
/// @error kInvalid     it has no place, or the place's constraint is no labels.
/// @error kInfeasible  more units than a node has, or a folder of the job lies outside the volume.
Result<Json> job_manifest(const RunOrder& run, const BatchFolder& folder, const JobManifestOptions& options);

/// What the container runs, for any shell of POSIX: the job's environment, inputs, program and outputs, with notes of
/// when it started, what it used and how it ended. Of two pods for one attempt only the first runs the program. SIGTERM
/// goes on to it.
std::string pod_script(const RunOrder& run, const BatchFolder& folder, const std::filesystem::path& programs,
                       const std::string& user);

} // namespace fathom::agent
