#include "probes/runner/task_operators.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::probes {
namespace {

/// The code knows these parameters and no others.
bool has_parameters_of(const OperatorManifest& manifest, const OperatorManifest& program)
{
    const auto same = [](const OperatorParameter& a, const OperatorParameter& b) { return a.name == b.name; };
    return std::equal(manifest.parameters.begin(), manifest.parameters.end(), program.parameters.begin(),
                      program.parameters.end(), same);
}

FieldError not_here(const OperatorUse& use, const std::string& path, const RegisteredOperator* built_in)
{
    if (built_in == nullptr)
        return {path + ".id", "there is no operator \"" + use.id + "\" here; see --list, or bring it with --operator"};
    return {path + ".version", fmt::format("this program has version {} of {}, and the task brings no manifest of "
                                           "version {}",
                                           built_in->manifest.version, use.id, use.version)};
}

} // namespace

std::optional<RegisteredOperator> operator_for(const ProbeTask& task, const OperatorUse& use, const Uploads& uploads)
{
    for (const RegisteredOperator& upload : uploads) {
        if (upload.manifest.id == use.id && (use.version == 0 || use.version == upload.manifest.version)) return upload;
    }
    const RegisteredOperator* const found = find_operator(use.id);
    if (found == nullptr) return std::nullopt;
    RegisteredOperator result = *found;
    if (use.version == 0 || use.version == found->manifest.version) return result;
    const auto manifest =
        std::find_if(task.manifests.begin(), task.manifests.end(), [&](const OperatorManifest& candidate) {
            return candidate.id == use.id && candidate.version == use.version && !candidate.is_uploaded();
        });
    if (manifest == task.manifests.end()) return std::nullopt;
    result.manifest = *manifest;
    return result;
}

double needed_memory(const ProbeTask& task, const RunConditions& conditions,
                     std::function<double(const Parameters&)> RegisteredOperator::* memory)
{
    double needed = 0;
    double largest_producer = 0;
    for (const OperatorUse& use : task.operators) {
        const RegisteredOperator item = *operator_for(task, use, conditions.uploads);
        const double own = item.*memory ? (item.*memory)(use.parameters) : 0;
        needed += own;
        if (!use.label.empty()) largest_producer = std::max(largest_producer, own);
    }
    return needed + largest_producer;
}

Result<void> check_memory(const ProbeTask& task, const RunConditions& conditions)
{
    const double on_host = needed_memory(task, conditions, &RegisteredOperator::memory);
    if (on_host > conditions.usable_memory_bytes)
        return Error{Errc::kTooLarge, fmt::format("out of memory: the task needs {:.1f} MB, {:.1f} MB are usable here",
                                                  on_host / 1e6, conditions.usable_memory_bytes / 1e6)};
    const double on_device = needed_memory(task, conditions, &RegisteredOperator::device_memory);
    if (on_device > conditions.usable_device_memory_bytes)
        return Error{Errc::kTooLarge, fmt::format("out of memory on the GPU: the task needs {:.1f} MB there, {:.1f} MB "
                                                  "are free",
                                                  on_device / 1e6, conditions.usable_device_memory_bytes / 1e6)};
    return {};
}

Result<ProbeTask> validate_task(ProbeTask task, const Uploads& uploads)
{
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < task.operators.size(); ++i) {
        OperatorUse& use = task.operators[i];
        const std::string path = fmt::format("operators[{}]", i);
        const RegisteredOperator* const built_in = find_operator(use.id);
        const std::optional<RegisteredOperator> meant = operator_for(task, use, uploads);
        if (!meant) {
            errors.push_back(not_here(use, path, built_in));
            if (built_in != nullptr)
                complete_parameters(built_in->manifest, use.parameters, path + ".parameters", errors);
            continue;
        }
        use.version = meant->manifest.version;
        if (meant->manifest.is_uploaded()) {
            use.parameters = complete_parameters(meant->manifest, use.parameters, path + ".parameters", errors);
            continue;
        }
        if (!has_parameters_of(meant->manifest, built_in->manifest)) {
            errors.push_back({path + ".version", fmt::format("version {} of {} has other parameters than this "
                                                             "program's code",
                                                             use.version, use.id)});
            continue;
        }
        const std::size_t before = errors.size();
        use.parameters = complete_parameters(meant->manifest, use.parameters, path + ".parameters", errors);
        // What the code can compute is for the code's own manifest to say.
        if (errors.size() == before)
            complete_parameters(built_in->manifest, use.parameters, path + ".parameters", errors);
    }
    return value_or_errors(std::move(task), std::move(errors), "the probe task");
}

} // namespace fathom::probes
