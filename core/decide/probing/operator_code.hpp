#pragma once

#include "core/decide/probing/code_mix.hpp"

#include <span>
#include <string_view>

namespace fathom {

/// The code of an operator's loop, as it was measured once.
struct OperatorCode {
    std::string_view operator_id;
    CodeMix mix;
    /// Devices have it, too. Where another one stood for a part of a job, the job could not be placed on devices at
    /// all.
    bool is_on_devices{true};
};

/// The loops of Fathom's own operators. An operator has several rows where compilers and libraries make different
/// loops of it.
std::span<const OperatorCode> operator_code();

} // namespace fathom
