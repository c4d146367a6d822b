#pragma once

#include <string>

namespace fathom::probes {

/// "OpenBLAS 0.3.21 SkylakeX": version, and what it took this processor for.
std::string openblas_name();

} // namespace fathom::probes
