#pragma once

#include "core/base/result.hpp"

#include <map>
#include <string>

namespace fathom {

/// Values of an operator's parameters by name: whole numbers such as {"m": 512, "n": 512, "k": 512}.
using Parameters = std::map<std::string, std::int64_t>;

/// Evaluates an arithmetic formula of an operator manifest, such as `2*m*n*k` or `5*n*log2(n)`.
/// Known are numbers, + - * / ^ ( ), log2, ln, sqrt, min, max and the parameters; nothing else.
/// @error kInvalid  a syntax error, an unknown name, or a result that is not finite; at most 512 characters.
Result<double> evaluate_formula(const std::string& formula, const Parameters& parameters);

/// The same where no value is no error: 0 then.
double formula_value(const std::string& formula, const Parameters& parameters);

/// A canonical text of parameters, `k=512,m=512,n=512`, used as a key. Empty for none.
std::string parameters_key(const Parameters& parameters);

} // namespace fathom
