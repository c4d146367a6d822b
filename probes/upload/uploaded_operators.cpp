#include "probes/upload/uploaded_operators.hpp"

#include "core/base/file.hpp"

#include <algorithm>
#include <sys/utsname.h>

namespace fathom::probes {
namespace {

using Package = SandboxedOperator::Package;

constexpr std::size_t kMaxPackages = 64;
constexpr std::size_t kMaxKeyBytes = 1UL << 20U;

/// Whatever is wrong with a file is wrong input.
Error in_file(const std::string& path, Error error)
{
    error.code = Errc::kInvalid;
    // Errors of reading name the file already.
    if (error.detail.find(path) == std::string::npos) error.detail = path + ": " + error.detail;
    return error;
}

Result<std::vector<PublicKey>> read_keys(const std::string& path)
{
    if (path.empty())
        return Error{Errc::kInvalid, "no operator keys are trusted here, so no uploaded operator can be verified: give "
                                     "--operator-keys FILE or set FATHOM_OPERATOR_KEYS"};
    const Result<std::string> text = read_file(path, kMaxKeyBytes);
    if (!text) return in_file(path, text.error());
    const Result<std::vector<PublicKey>> keys = parse_public_keys(*text);
    if (!keys) return in_file(path, keys.error());
    return keys;
}

Result<void> check_machine(const OperatorPackage& package)
{
    const Result<std::string> machine = machine_of_object(package.object);
    if (!machine) return machine.error();
    struct utsname name{};
    ::uname(&name);
    if (*machine == name.machine) return {};
    return Error{Errc::kInvalid,
                 "operator " + package.manifest.id + " is built for " + *machine + ", this machine is " + name.machine};
}

Result<Package> read_package(const std::string& path, const std::vector<PublicKey>& trusted)
{
    const Result<std::string> text = read_file(path, kMaxPackageBytes);
    if (!text) return in_file(path, text.error());
    Result<OperatorPackage> package = parse_operator_package_text(*text);
    if (!package) return in_file(path, package.error());
    if (const Result<void> verified = verify_operator_package(*package, trusted); !verified)
        return in_file(path, verified.error());
    if (const Result<void> fits = check_machine(*package); !fits) return in_file(path, fits.error());
    return std::make_shared<const OperatorPackage>(std::move(*package));
}

Result<Package> read_unsigned(const UploadSources& sources)
{
    const Result<std::string> text = read_file(sources.unsigned_manifest, kMaxPackageBytes);
    if (!text) return in_file(sources.unsigned_manifest, text.error());
    const Result<Json> json = parse_json(*text);
    if (!json) return in_file(sources.unsigned_manifest, json.error());
    Result<OperatorManifest> manifest = parse_operator_manifest(*json);
    if (!manifest) return in_file(sources.unsigned_manifest, manifest.error());
    if (!manifest->is_uploaded())
        return Error{Errc::kInvalid, sources.unsigned_manifest + ": no implementation has the library \"uploaded\""};
    Result<std::string> object = read_file(sources.unsigned_object, 2 * kMaxObjectBytes);
    if (!object) return in_file(sources.unsigned_object, object.error());
    OperatorPackage package{std::move(*manifest), std::move(*object), "", ""};
    if (const Result<void> fits = check_machine(package); !fits) return in_file(sources.unsigned_object, fits.error());
    return std::make_shared<const OperatorPackage>(std::move(package));
}

RegisteredOperator registered(const Package& package, const UploadLimits& limits)
{
    return {.manifest = package->manifest,
            .make = [package, limits](const Parameters& parameters, int threads) -> std::unique_ptr<ProbeOperator> {
                return std::make_unique<SandboxedOperator>(package, parameters, threads, limits);
            },
            // Only its own code knows, which runs in its sandbox: prepare asks, and refuses what does not fit.
            .memory = [](const Parameters&) { return 0.0; }};
}

} // namespace

Result<std::vector<RegisteredOperator>> load_uploaded_operators(const UploadSources& sources,
                                                                const UploadLimits& limits)
{
    if (sources.packages.size() > kMaxPackages)
        return Error{Errc::kInvalid, "there are more than " + std::to_string(kMaxPackages) + " operator packages"};
    std::vector<Package> packages;
    if (!sources.packages.empty()) {
        const Result<std::vector<PublicKey>> keys = read_keys(sources.keys);
        if (!keys) return keys.error();
        for (const std::string& path : sources.packages) {
            Result<Package> package = read_package(path, *keys);
            if (!package) return package.error();
            packages.push_back(std::move(*package));
        }
    }
    if (!sources.unsigned_manifest.empty()) {
        Result<Package> package = read_unsigned(sources);
        if (!package) return package.error();
        packages.push_back(std::move(*package));
    }
    std::vector<RegisteredOperator> operators;
    for (const Package& package : packages) {
        const OperatorManifest& manifest = package->manifest;
        const bool repeats = std::any_of(operators.begin(), operators.end(), [&](const RegisteredOperator& other) {
            return other.manifest.id == manifest.id && other.manifest.version == manifest.version;
        });
        if (repeats)
            return Error{Errc::kInvalid, "version " + std::to_string(manifest.version) + " of operator " + manifest.id +
                                             " was given twice"};
        operators.push_back(registered(package, limits));
    }
    return operators;
}

} // namespace fathom::probes
