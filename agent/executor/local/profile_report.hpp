#pragma once

#include "core/model/attempt.hpp"

#include <filesystem>

namespace fathom::agent {

/// Adds the profile that the job asked for, which fathom-profile left in its working folder, or says why there is none.
void add_profile(AttemptEnd& end, const std::filesystem::path& work);

} // namespace fathom::agent
