#include "agent/config/kubernetes_settings.hpp"

#include "core/base/split_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace fathom::agent {
namespace {

constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

std::vector<std::string> parts_of(const std::string& text)
{
    std::vector<std::string> parts;
    for (const std::string_view part : split_text(text, ',')) {
        if (!part.empty()) parts.emplace_back(part);
    }
    return parts;
}

/// `a=b,c=d`; what has no sign has an empty value.
std::map<std::string, std::string> pairs_of(const std::string& text)
{
    std::map<std::string, std::string> pairs;
    for (const std::string& part : parts_of(text)) {
        const std::size_t sign = std::min(part.find('='), part.size());
        pairs[part.substr(0, sign)] = part.substr(std::min(sign + 1, part.size()));
    }
    return pairs;
}

/// Of names, labels and their values.
std::string check_names(std::string_view text)
{
    const bool is_fine = std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_-./=,").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return is_fine ? "" : "may have letters, digits and _ - . / = and commas only";
}

std::string check_center_label(std::string_view text)
{
    const bool is_fine =
        !text.empty() && text.size() <= 63 &&
        std::all_of(text.begin(), text.end(),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; }) &&
        std::isalnum(static_cast<unsigned char>(text.front())) != 0 &&
        std::isalnum(static_cast<unsigned char>(text.back())) != 0;
    return is_fine ? "" : "must be a label's value: 63 letters, digits and _ - . at most";
}

std::string check_absolute(std::string_view text)
{
    return text.empty() || text.front() == '/' ? "" : "must be an absolute path";
}

std::string check_unmapped(std::string_view text)
{
    return text == "refuse" || text == "run_as" ? "" : "must be refuse or run_as";
}

/// As pods are told it.
std::string api_of_environment()
{
    // One thread, before there are others. NOLINTBEGIN(concurrency-mt-unsafe)
    const char* const host = std::getenv("KUBERNETES_SERVICE_HOST");
    const char* const port = std::getenv("KUBERNETES_SERVICE_PORT");
    // NOLINTEND(concurrency-mt-unsafe)
    if (host == nullptr || port == nullptr) return {};
    const bool is_ipv6 = std::string_view(host).find(':') != std::string_view::npos;
    return std::string("https://") + (is_ipv6 ? "[" : "") + host + (is_ipv6 ? "]" : "") + ":" + port;
}

/// Where the cluster is, and who asks it.
std::vector<SettingSpec> cluster_settings()
{
    const std::string folder = kAccountFolder;
    return {
        {"kubernetes_api", "",
         "with Kubernetes: its API server, https://host:port; empty: as the environment of a pod says"},
        {"kubernetes_ca_file", folder + "/ca.crt", "with Kubernetes: file of the authorities of its API server (PEM)"},
        {"kubernetes_token_file", folder + "/token", "with Kubernetes: file of the token; read for each request"},
        {"kubernetes_namespace", "",
         "with Kubernetes: namespace of Jobs; empty: as the file `namespace` beside the token says, else default",
         check_names},
        {"kubernetes_center", "fathom",
         "with Kubernetes: label value of this agent's Jobs; another one for each center in a namespace",
         check_center_label},
    };
}

/// What its pods are made of.
std::vector<SettingSpec> pod_settings()
{
    return {
        {"kubernetes_image", "", "with Kubernetes: image of jobs"},
        {"kubernetes_probe_image", "", "with Kubernetes: image of probes; empty: that of jobs"},
        {"kubernetes_job_images", "refuse",
         "with Kubernetes: jobs that name the image of their pod (container) get it (any), or go elsewhere (refuse)",
         check_one_of({"any", "refuse"})},
        {"kubernetes_pull_secrets", "", "with Kubernetes: secrets that images are pulled with, commas between them",
         check_names},
        {"kubernetes_work_folder", "",
         "with Kubernetes: folder of jobs' files, at the same path here and in pods; empty: attempts in state_dir",
         check_absolute},
        {"kubernetes_volume_claim", "",
         "with Kubernetes: claim of the volume with that folder; empty: it is a folder of the nodes", check_names},
        {"kubernetes_volume_folder", "",
         "with Kubernetes: where that volume is mounted here; empty: at kubernetes_work_folder", check_absolute},
    };
}

/// Which units it has.
std::vector<SettingSpec> node_settings()
{
    return {
        {"kubernetes_node_selector", "",
         "with Kubernetes: labels of the nodes to offer, label=value, commas between them; empty: all", check_names},
        {"kubernetes_unit_labels", "node.kubernetes.io/instance-type,kubernetes.io/arch,nvidia.com/gpu.product",
         "with Kubernetes: nodes that are alike in these labels are one unit type", check_names},
        {"kubernetes_device_resources", "cuda=nvidia.com/gpu",
         "with Kubernetes: what device plugins call devices, resource type=resource, commas between them", check_names},
    };
}

/// How its pods start and end, and as whom.
std::vector<SettingSpec> pod_run_settings()
{
    return {
        {"kubernetes_start_limit_s", "600",
         "with Kubernetes: how long a pod may be held up, by an image that cannot be pulled, say, before its attempt "
         "fails",
         check_integer(1, 86'400)},
        {"kubernetes_grace_s", "5", "with Kubernetes: from SIGTERM to SIGKILL of a job", check_integer(0, 3600)},
        {"kubernetes_finished_ttl_s", "86400",
         "with Kubernetes: how long it keeps Jobs that have ended and that the agent has not deleted",
         check_integer(60, 31'536'000)},
        {"kubernetes_unmapped", "refuse",
         "with Kubernetes and [[kubernetes_user]] tables: jobs of users that none of them is for are refused (refuse), "
         "or run as run_as (run_as)",
         check_unmapped},
        {"kubernetes_priority_class", "", "with Kubernetes: priority class of pods; empty: the cluster's default",
         check_names},
    };
}

} // namespace

std::vector<SettingSpec> kubernetes_settings()
{
    std::vector<SettingSpec> all;
    for (const auto& part : {cluster_settings, pod_settings, node_settings, pod_run_settings}) {
        const std::vector<SettingSpec> specs = part();
        all.insert(all.end(), specs.begin(), specs.end());
    }
    return all;
}

KubernetesConfig read_kubernetes_settings(const Settings& settings)
{
    KubernetesConfig config;
    config.api = settings.text("kubernetes_api");
    if (config.api.empty()) config.api = api_of_environment();
    config.ca_file = settings.text("kubernetes_ca_file");
    config.token_file = settings.text("kubernetes_token_file");
    config.name_space = settings.text("kubernetes_namespace");
    config.center = settings.text("kubernetes_center");
    config.image = settings.text("kubernetes_image");
    config.probe_image = settings.text("kubernetes_probe_image");
    config.takes_job_images = settings.text("kubernetes_job_images") == "any";
    config.pull_secrets = parts_of(settings.text("kubernetes_pull_secrets"));
    config.work_folder = settings.text("kubernetes_work_folder");
    config.volume_claim = settings.text("kubernetes_volume_claim");
    config.volume_folder = settings.text("kubernetes_volume_folder");
    config.node_selector = pairs_of(settings.text("kubernetes_node_selector"));
    config.unit_labels = parts_of(settings.text("kubernetes_unit_labels"));
    config.device_resources = pairs_of(settings.text("kubernetes_device_resources"));
    config.start_limit_s = settings.integer("kubernetes_start_limit_s");
    config.grace_s = settings.integer("kubernetes_grace_s");
    config.finished_ttl_s = settings.integer("kubernetes_finished_ttl_s");
    config.priority_class = settings.text("kubernetes_priority_class");
    config.refuses_unmapped = settings.text("kubernetes_unmapped") == "refuse";
    return config;
}

} // namespace fathom::agent
