#include "core/model/job_software.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxModules = 32;
constexpr std::size_t kMaxModuleBytes = 128;
constexpr std::size_t kMaxImageBytes = 512;

bool is_made_of(std::string_view text, std::string_view signs)
{
    return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return std::isalnum(c) != 0 || signs.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

/// No option, no folder above.
bool is_plain_name(std::string_view text, std::string_view signs)
{
    return !text.empty() && text.front() != '-' && text.find("..") == std::string_view::npos && is_made_of(text, signs);
}

bool is_module(std::string_view name)
{
    return is_plain_name(name, "_-.+/") && name.front() != '/';
}

/// `registry.example.org/group/name:tag`, with `@sha256:…` after it, or a path.
bool is_image(std::string_view name)
{
    if (name.starts_with('/')) return is_plain_name(name, "_-.+/");
    return is_plain_name(name, "_-./:@") && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
           name.find("//") == std::string_view::npos;
}

} // namespace

SoftwareKinds kinds_of(const JobSoftware& software)
{
    return {.modules = !software.modules.empty(), .containers = !software.image.empty()};
}

std::string to_string(const SoftwareKinds& kinds)
{
    if (kinds.modules && kinds.containers) return "modules and containers";
    if (kinds.modules) return "modules";
    return kinds.containers ? "containers" : "";
}

JobSoftware parse_job_software(ObjectReader& reader, std::vector<FieldError>& errors)
{
    JobSoftware software;
    software.modules = reader.strings("modules", kMaxModules, {.min_length = 1, .max_length = kMaxModuleBytes});
    for (std::size_t i = 0; i < software.modules.size(); ++i) {
        if (!is_module(software.modules[i]))
            reader.fail("modules[" + std::to_string(i) + "]",
                        "must be a module's name, such as gcc/12.2: letters, digits and _ - . + /");
    }
    const Json* const json = reader.object("container");
    if (json == nullptr) return software;
    ObjectReader container(*json, reader.path_of("container"), errors);
    software.image = container.required_string("image", {.min_length = 1, .max_length = kMaxImageBytes});
    if (!software.image.empty() && !is_image(software.image))
        container.fail("image", "must be an image's name, such as docker.io/library/debian:12, or an absolute path");
    container.finish(UnknownFields::kReject);
    return software;
}

void add_json(Json& job, const JobSoftware& software)
{
    if (!software.modules.empty()) job["modules"] = software.modules;
    if (!software.image.empty()) job["container"] = {{"image", software.image}};
}

} // namespace fathom
