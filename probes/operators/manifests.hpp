#pragma once

#include "core/base/embedded_file.hpp"
#include "core/model/operator_manifest.hpp"

#include <span>
#include <vector>

/// The manifests of the operators that come with Fathom, compiled in. Links no numerical library:
/// the metascheduler fills its operator library from here.
namespace fathom::probes {

/// `operators/<id>/manifest.json` as text, sorted by name.
std::span<const EmbeddedFile> operator_manifest_files();

/// The same, parsed, sorted by id.
std::vector<OperatorManifest> operator_manifests();

} // namespace fathom::probes
