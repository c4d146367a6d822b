#pragma once

#include "core/base/result.hpp"

#include <string>

namespace fathom {

// How two processes of one program answer each other: the text of a success, or an error's code and detail, as one
// message.

std::string encode_answer(const Result<std::string>& answer);

/// @error kInternal  not what encode_answer() wrote. Otherwise the error that was encoded, without its fields.
Result<std::string> decode_answer(std::string text);

} // namespace fathom
