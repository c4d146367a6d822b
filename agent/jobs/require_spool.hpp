#pragma once

#include "core/base/log.hpp"
#include "core/base/result.hpp"

#include <cstdlib>
#include <type_traits>
#include <utility>

namespace fathom::agent {

/// Without the spool no promise can be kept, so nothing more may be done or said.
template <class T>
T require_spool(Result<T> result)
{
    if (!result) {
        log_error("spool_failed", {{"reason", describe(result.error())}, {"effect", "the agent stops; jobs go on"}});
        std::_Exit(70);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

} // namespace fathom::agent
