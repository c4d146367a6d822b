#pragma once

#include "core/base/embedded_file.hpp"

#include <span>

/// report.css and report.js, which fathom_embed() compiles in.
namespace fathom::simulation::report_files {

std::span<const EmbeddedFile> embedded_files();

} // namespace fathom::simulation::report_files
