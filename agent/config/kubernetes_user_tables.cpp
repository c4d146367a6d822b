#include "agent/config/kubernetes_user_tables.hpp"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxKubernetesUsers = 10'000;
constexpr std::size_t kMaxNamesOfOne = 100;
constexpr std::size_t kMaxNameBytes = 128;
constexpr std::int64_t kFirstPodId = 1000;
constexpr std::int64_t kLastPodId = 2'147'483'647; ///< as Kubernetes takes them

KubernetesUserRule read_kubernetes_user(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    KubernetesUserRule rule;
    rule.users = reader.strings("users", kMaxNamesOfOne, {.min_length = 1, .max_length = kMaxNameBytes});
    rule.project = reader.optional_string("project", {.min_length = 1, .max_length = kMaxNameBytes}).value_or("");
    if (rule.users.empty() && rule.project.empty()) reader.fail("users", "or project must say whose jobs are meant");
    rule.uid = static_cast<unsigned>(reader.required_integer("uid", kFirstPodId, kLastPodId));
    rule.gid = static_cast<unsigned>(reader.required_integer("gid", 1, kLastPodId));
    rule.name = reader.optional_string("name", {.min_length = 1, .max_length = kMaxNameBytes})
                    .value_or(std::to_string(rule.uid));
    const bool is_name = std::all_of(rule.name.begin(), rule.name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (!is_name) reader.fail("name", "may have letters, digits and _ - . only");
    reader.finish(UnknownFields::kReject);
    return rule;
}

} // namespace

std::vector<KubernetesUserRule> read_kubernetes_users(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<KubernetesUserRule> rules;
    const Json* items =
        reader.has("kubernetes_user") ? reader.array("kubernetes_user", 1, kMaxKubernetesUsers) : nullptr;
    if (items == nullptr) return rules;
    for (std::size_t i = 0; i < items->size(); ++i)
        rules.push_back(read_kubernetes_user((*items)[i], "kubernetes_user[" + std::to_string(i) + "]", errors));
    return rules;
}

} // namespace fathom::agent
