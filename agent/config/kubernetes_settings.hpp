#pragma once

#include "agent/config/agent_config.hpp"

namespace fathom::agent {

/// The settings `kubernetes_…`.
std::vector<SettingSpec> kubernetes_settings();

/// What they say. Where none names the API server, the environment of a pod does.
KubernetesConfig read_kubernetes_settings(const Settings& settings);

} // namespace fathom::agent
