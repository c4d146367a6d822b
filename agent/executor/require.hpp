#pragma once

#include "core/base/log.hpp"
#include "core/base/result.hpp"

#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fathom::agent {

/// What no promise can be kept without: where it failed nothing more may be done or said, so the process ends at once.
/// @param event  what the log calls the failure
template <class T>
T require(Result<T> result, std::string_view event)
{
    if (!result) {
        log_error(event, {{"reason", describe(result.error())}, {"effect", "the agent stops; jobs go on"}});
        std::_Exit(70);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

} // namespace fathom::agent
