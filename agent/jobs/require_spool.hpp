#pragma once

#include "agent/executor/require.hpp"

namespace fathom::agent {

/// Of the spool's answers.
template <class T>
T require_spool(Result<T> result)
{
    return require(std::move(result), "spool_failed");
}

} // namespace fathom::agent
