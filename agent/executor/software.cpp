#include "agent/executor/software.hpp"

#include "agent/executor/batch/script_parts.hpp"

#include <array>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Of Environment Modules and of Lmod, as distributions have them.
constexpr std::array kModulesFiles{"/etc/profile.d/modules.sh", "/etc/profile.d/lmod.sh", "/etc/profile.d/z00_lmod.sh",
                                   "/usr/share/modules/init/bash", "/usr/share/lmod/lmod/init/bash"};
constexpr std::array kContainerPrograms{"/usr/bin/apptainer", "/usr/local/bin/apptainer", "/usr/bin/singularity",
                                        "/usr/local/bin/singularity", "/usr/bin/podman"};

template <std::size_t Count>
std::filesystem::path first_of(const std::array<const char*, Count>& paths, int access)
{
    for (const char* path : paths) {
        if (::access(path, access) == 0) return path;
    }
    return {};
}

/// `auto`, `off` or a path.
template <std::size_t Count>
std::filesystem::path choose(const std::string& setting, const std::array<const char*, Count>& known, int access)
{
    if (setting == "off") return {};
    return setting == "auto" ? first_of(known, access) : std::filesystem::path(setting);
}

std::string modules_line(const JobSoftware& software, const std::filesystem::path& file)
{
    std::string line = ". " + shell_quoted(file.string()) + " && module load";
    for (const std::string& module : software.modules)
        line += " " + shell_quoted(module);
    return line + " || { echo 'fathom: the modules of this job cannot be loaded' >&2; exit 127; }\n";
}

bool is_podman(const std::filesystem::path& program)
{
    return program.filename() == "podman";
}

/// apptainer takes a name at a registry with its kind before it.
std::string image_name(const std::string& image, const std::filesystem::path& program)
{
    return image.starts_with('/') || is_podman(program) ? image : "docker://" + image;
}

std::string container_line(const std::string& image, const std::filesystem::path& program, bool has_gpus)
{
    std::string line = "exec " + shell_quoted(program.string());
    if (is_podman(program)) {
        line += " run --rm --network=host --env-host --volume=\"$PWD:$PWD\" --workdir=\"$PWD\"";
        if (has_gpus) line += " --device=nvidia.com/gpu=all";
    } else {
        line += " exec --bind \"$PWD\" --pwd \"$PWD\"";
        if (has_gpus) line += " --nv";
    }
    return line + " " + shell_quoted(image_name(image, program)) + " \"$@\"\n";
}

} // namespace

SoftwarePlace find_software(const SoftwareConfig& config)
{
    return {.modules_file = choose(config.modules, kModulesFiles, R_OK),
            .container_program = choose(config.containers, kContainerPrograms, X_OK)};
}

Json software_facts(const SoftwarePlace& place)
{
    Json facts = {{"modules", place.kinds().modules}, {"containers", place.kinds().containers}};
    if (!place.container_program.empty()) facts["container_runtime"] = place.container_program.filename().string();
    return facts;
}

Result<std::vector<std::string>> software_words(const JobSoftware& software, const SoftwarePlace& place, bool has_gpus)
{
    const SoftwareKinds needed = kinds_of(software);
    if (!place.kinds().have(needed))
        return Error{Errc::kInfeasible, "this center has not what the job needs of " + to_string(needed)};
    if (needed == SoftwareKinds()) return std::vector<std::string>();
    std::string script;
    if (needed.modules) script += modules_line(software, place.modules_file);
    script += needed.containers ? container_line(software.image, place.container_program, has_gpus)
                                : std::string("exec \"$@\"\n");
    return std::vector<std::string>{"/bin/bash", "-c", std::move(script), "fathom-software"};
}

} // namespace fathom::agent
