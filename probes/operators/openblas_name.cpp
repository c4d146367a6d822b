#include "probes/operators/openblas_name.hpp"

#include <cblas.h>

namespace fathom::probes {

std::string openblas_name()
{
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …": the first two words are the version.
    const std::string config = openblas_get_config();
    const std::size_t name_end = config.find(' ');
    const std::size_t version_end = name_end == std::string::npos ? name_end : config.find(' ', name_end + 1);
    return config.substr(0, version_end) + " " + openblas_get_corename();
}

} // namespace fathom::probes
