#pragma once

#include <string>

namespace fathom::probes {

/// "oneDNN 2.6.3 AVX512": version, and the instruction set that it uses on this processor.
std::string onednn_name();

} // namespace fathom::probes
