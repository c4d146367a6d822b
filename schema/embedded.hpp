#pragma once

#include "core/base/embedded_file.hpp"

namespace fathom::schema {

namespace sql {
/// The migrations, sorted by name: `sql/0001_….sql` first.
std::span<const EmbeddedFile> embedded_files();
} // namespace sql

namespace openapi {
/// One file: openapi.yaml.
std::span<const EmbeddedFile> embedded_files();
} // namespace openapi

} // namespace fathom::schema
