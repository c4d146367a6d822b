#include "agent/executor/kubernetes/job_manifest.hpp"

#include "agent/executor/batch/script_parts.hpp"
#include "agent/executor/kubernetes/cluster_objects.hpp"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;

bool is_letter_or_digit(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// A folder that the pod sees at the path that it has here.
struct Mount {
    std::filesystem::path folder;
    bool is_read_only{};
};

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder)
{
    const std::filesystem::path relative = path.lexically_normal().lexically_relative(folder.lexically_normal());
    return !relative.empty() && *relative.begin() != "..";
}

std::vector<Mount> mounts_of(const RunOrder& run, const BatchFolder& folder, const JobManifestOptions& options)
{
    std::vector<Mount> mounts{{folder.path, false}};
    if (is_inside(options.programs, options.volume_folder)) mounts.push_back({options.programs, true});
    if (!run.order.inputs.empty()) {
        if (!options.input_cache.empty()) mounts.push_back({options.input_cache, true});
        for (const std::filesystem::path& inputs : options.input_folders)
            mounts.push_back({inputs, true});
    }
    if (run.order.outputs.empty()) return mounts;
    for (const std::filesystem::path& outputs : options.output_folders) {
        const auto same =
            std::find_if(mounts.begin(), mounts.end(), [&](const Mount& mount) { return mount.folder == outputs; });
        if (same != mounts.end())
            same->is_read_only = false;
        else
            mounts.push_back({outputs, false});
    }
    return mounts;
}

/// Parts of the claim's volume, or folders of the node.
Result<void> add_volumes(Json& pod, Json& container, const std::vector<Mount>& mounts,
                         const JobManifestOptions& options)
{
    Json volumes = Json::array();
    Json volume_mounts = Json::array();
    if (!options.volume_claim.empty())
        volumes.push_back({{"name", "work"}, {"persistentVolumeClaim", {{"claimName", options.volume_claim}}}});
    for (const Mount& mount : mounts) {
        Json one = {{"mountPath", mount.folder.string()}, {"readOnly", mount.is_read_only}};
        if (options.volume_claim.empty()) {
            one["name"] = "folder-" + std::to_string(volumes.size());
            volumes.push_back(
                {{"name", one["name"]}, {"hostPath", {{"path", mount.folder.string()}, {"type", "Directory"}}}});
        } else {
            if (!is_inside(mount.folder, options.volume_folder))
                return Error{Errc::kInfeasible, mount.folder.string() + " is not below kubernetes_volume_folder (" +
                                                    options.volume_folder.string() + "), so that no pod sees it"};
            one["name"] = "work";
            const std::filesystem::path part =
                mount.folder.lexically_normal().lexically_relative(options.volume_folder.lexically_normal());
            if (part != ".") one["subPath"] = part.string();
        }
        volume_mounts.push_back(std::move(one));
    }
    pod["volumes"] = std::move(volumes);
    container["volumeMounts"] = std::move(volume_mounts);
    return {};
}

Json resources_of(const RunOrder& run)
{
    const BatchPlace& place = *run.place;
    const std::int64_t units = run.order.unit_count;
    Json amounts = {{"cpu", std::to_string(place.cpus_per_unit * units)}};
    if (place.memory_bytes_per_unit > 0) amounts["memory"] = std::to_string(place.memory_bytes_per_unit * units);
    if (place.devices_per_unit > 0) amounts[place.devices] = std::to_string(place.devices_per_unit * units);
    return {{"requests", amounts}, {"limits", amounts}};
}

Json job_labels(const AttemptOrder& order, const JobManifestOptions& options)
{
    Json labels = {{kManagedByLabel, kManagedBy},
                   {kCenterLabel, options.center},
                   {kAttemptLabel, order.attempt_id.value},
                   {"fathom/job", label_value(order.job_id.value)},
                   {"fathom/kind", label_value(order.label)}};
    const std::string& user = order.owner.account.empty() ? order.owner.submitter : order.owner.account;
    if (!user.empty()) labels["fathom/user"] = label_value(user);
    if (!order.owner.project.empty()) labels["fathom/project"] = label_value(order.owner.project);
    return labels;
}

Json container_of(const RunOrder& run, const BatchFolder& folder, const JobManifestOptions& options)
{
    Json pod_name = {{"name", "FATHOM_POD_NAME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}};
    return {
        {"name", "job"},
        {"image", options.image},
        {"command", Json::array({"/bin/sh", folder.script().string()})},
        {"env", Json::array({std::move(pod_name)})},
        {"resources", resources_of(run)},
        {"securityContext", {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", Json::array({"ALL"})}}}}}};
}

Json pod_of(const RunOrder& run, const std::map<std::string, std::string>& selector, const JobManifestOptions& options)
{
    Json pod = {{"restartPolicy", "Never"},
                {"automountServiceAccountToken", false},
                {"enableServiceLinks", false},
                {"terminationGracePeriodSeconds", options.grace_s},
                // Of the pod, from when the node has it: that of a Job would count from its creation.
                {"activeDeadlineSeconds", run.order.wall_limit_s + options.start_limit_s + options.grace_s},
                {"securityContext",
                 {{"runAsNonRoot", true},
                  {"runAsUser", options.uid},
                  {"runAsGroup", options.gid},
                  {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
    if (!selector.empty()) pod["nodeSelector"] = selector;
    if (!options.priority_class.empty()) pod["priorityClassName"] = options.priority_class;
    for (const std::string& secret : options.pull_secrets)
        pod["imagePullSecrets"].push_back({{"name", secret}});
    return pod;
}

/// What the program used, by the control group that the container sees as its own. A container that sees the host's has
/// no file `cgroup.type` at its top.
constexpr const char* kUsageLines = R"(if [ -e /sys/fs/cgroup/cgroup.type ]; then
    {
        read -r fathom_used </sys/fs/cgroup/memory.peak && echo "memory $fathom_used"
        while read -r fathom_name fathom_used; do
            [ "$fathom_name" != usage_usec ] || echo "cpu_us $fathom_used"
        done </sys/fs/cgroup/cpu.stat
        while read -r fathom_name fathom_used; do
            [ "$fathom_name" != oom_kill ] || echo "oom_kill $fathom_used"
        done </sys/fs/cgroup/memory.events
    } 2>/dev/null >"$fathom_report/usage"
fi
)";

/// A shell that is the first process of its container hears SIGTERM only with a trap, and only while it waits.
constexpr const char* kWaitLines = R"(fathom_program=$!
trap 'kill -TERM "$fathom_program" 2>/dev/null' TERM
wait "$fathom_program"
fathom_exit_code=$?
while [ "$fathom_exit_code" -gt 128 ] && kill -0 "$fathom_program" 2>/dev/null; do
    wait "$fathom_program"
    fathom_exit_code=$?
done
)";

} // namespace

Result<std::string> pod_image(const AttemptOrder& order, const KubernetesConfig& config)
{
    const JobSoftware& software = order.software;
    if (!software.modules.empty())
        return Error{Errc::kInfeasible, "this center has no modules: what a job needs is in its image"};
    if (software.image.empty()) {
        const bool has_own = order.label == "probe" && !config.probe_image.empty();
        return has_own ? config.probe_image : config.image;
    }
    if (!config.takes_job_images)
        return Error{Errc::kInfeasible, "this center lets no job name its image (kubernetes_job_images)"};
    if (software.image.starts_with('/'))
        return Error{Errc::kInfeasible,
                     "the image of a pod comes from a registry, and " + software.image + " is the path of a file"};
    return software.image;
}

std::string job_name(const AttemptId& id)
{
    std::string name = "fathom-" + id.value;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
    return name;
}

std::string label_value(std::string_view text)
{
    std::string value(text.substr(0, kMaxLabelBytes));
    for (char& c : value) {
        if (!is_letter_or_digit(c) && c != '_' && c != '-' && c != '.') c = '-';
    }
    while (!value.empty() && !is_letter_or_digit(value.back()))
        value.pop_back();
    const auto first = std::find_if(value.begin(), value.end(), is_letter_or_digit);
    value.erase(value.begin(), first);
    return value;
}

Result<std::map<std::string, std::string>> parse_label_selector(std::string_view text)
{
    std::map<std::string, std::string> labels;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("&,"), text.size());
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t sign = std::min(part.find('='), part.size());
        const std::string_view name = part.substr(0, sign);
        const std::string_view value = part.substr(std::min(sign + 1, part.size()));
        if (name.empty() || !has_only(name, "_-./") || !has_only(value, "_-."))
            return Error{Errc::kInvalid, "\"" + std::string(part) + "\" is no label with its value (label=value)"};
        labels[std::string(name)] = value;
    }
    return labels;
}

Result<Json> job_manifest(const RunOrder& run, const BatchFolder& folder, const JobManifestOptions& options)
{
    if (!run.place) return Error{Errc::kInvalid, "the order does not say where Kubernetes is to run it"};
    if (run.order.unit_count > run.place->units_per_node)
        return Error{Errc::kInfeasible, "a job runs in one pod here, so on one node: at most " +
                                            std::to_string(run.place->units_per_node) + " units of this type"};
    Result<std::map<std::string, std::string>> selector = parse_label_selector(run.place->constraint);
    if (!selector) return selector.error();
    selector->insert(options.node_selector.begin(), options.node_selector.end());
    Json pod = pod_of(run, *selector, options);
    Json container = container_of(run, folder, options);
    if (Result<void> added = add_volumes(pod, container, mounts_of(run, folder, options), options); !added)
        return added.error();
    pod["containers"] = Json::array({std::move(container)});
    const Json labels = job_labels(run.order, options);
    return Json{{"apiVersion", "batch/v1"},
                {"kind", "Job"},
                {"metadata", {{"name", job_name(run.order.attempt_id)}, {"labels", labels}}},
                {"spec",
                 {{"backoffLimit", 0},
                  {"completions", 1},
                  {"parallelism", 1},
                  {"ttlSecondsAfterFinished", options.finished_ttl_s},
                  {"template", {{"metadata", {{"labels", labels}}}, {"spec", std::move(pod)}}}}}};
}

std::string pod_script(const RunOrder& run, const BatchFolder& folder, const std::filesystem::path& programs,
                       const std::string& user)
{
    const auto quoted = [](const std::filesystem::path& path) { return shell_quoted(path.string()); };
    std::string script = "#!/bin/sh\numask 077\nfathom_report=" + quoted(folder.report()) +
                         "\n"
                         "fathom_now() { echo \"${EPOCHREALTIME:-$(date +%s)}\"; }\n"
                         // The Job controller makes another pod where somebody deletes the first.
                         "(set -C; echo \"$FATHOM_POD_NAME\" >\"$fathom_report/first\") 2>/dev/null || {\n"
                         "    echo \"this attempt has begun in the pod $(cat \"$fathom_report/first\")\" >&2\n"
                         "    exit 1\n"
                         "}\n";
    script += "cd " + quoted(folder.work()) + " || exit 1\n";
    script += "exec >>" + quoted(folder.path / "stdout") + " 2>>" + quoted(folder.path / "stderr") + " </dev/null\n";
    script += environment_lines(run, folder.work(), programs, user);
    script += "fathom_now >\"$fathom_report/started\"\n(\n" + staging_line(run, programs) + "exec " +
              program_line(run) + "\n) &\n" + kWaitLines;
    script += storing_lines(run, programs) + kUsageLines;
    return script + "{ echo \"$fathom_exit_code $(fathom_now)\"; times; } >\"$fathom_report/ended.part\"\n"
                    "mv \"$fathom_report/ended.part\" \"$fathom_report/ended\"\n"
                    "exit \"$fathom_exit_code\"\n";
}

} // namespace fathom::agent
