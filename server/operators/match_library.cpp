#include "server/operators/match_library.hpp"

#include "core/base/secret.hpp"

namespace fathom::server {
namespace {

/// Stands where a manifest must say something.
constexpr const char* kLeftOut = "left out";

OperatorManifest matching_part(OperatorManifest manifest)
{
    manifest.description = kLeftOut;
    manifest.truth = kLeftOut;
    manifest.inputs.clear();
    manifest.outputs.clear();
    leave_out_own_fields(manifest);
    for (OperatorParameter& parameter : manifest.parameters)
        parameter.description.clear();
    return manifest;
}

} // namespace

MatchLibraryPart make_match_library(const OperatorLibrary& library)
{
    MatchLibraryPart made;
    Json& operators = made.library.operators;
    std::size_t size_bytes = 2; // of the list's brackets
    for (const OperatorLibrary::Version* version : library.newest()) {
        Json manifest = to_json(matching_part(version->manifest));
        const std::size_t more_bytes = manifest.dump().size() + 1; // and a comma
        const bool has_room =
            operators.size() < link::kMaxLibraryOperators && size_bytes + more_bytes <= link::kMaxLibraryBytes;
        if (!has_room) {
            ++made.left_out;
            continue;
        }
        size_bytes += more_bytes;
        operators.push_back(std::move(manifest));
    }
    made.library.digest = sha256_hex(operators.dump());
    return made;
}

} // namespace fathom::server
