#include "core/model/formula.hpp"

#include <muParser.h>

#include <cmath>

namespace fathom {

Result<double> evaluate_formula(const std::string& formula, const Parameters& parameters)
{
    if (formula.empty() || formula.size() > 512)
        return Error{Errc::kInvalid, "a formula must have 1 to 512 characters"};
    try {
        mu::Parser parser;
        std::map<std::string, double> values;
        for (const auto& [name, value] : parameters) {
            parser.DefineVar(name, &(values[name] = static_cast<double>(value)));
        }
        parser.SetExpr(formula);
        const double result = parser.Eval();
        if (!std::isfinite(result)) return Error{Errc::kInvalid, "the formula \"" + formula + "\" has no finite value"};
        return result;
    } catch (const mu::Parser::exception_type& e) {
        return Error{Errc::kInvalid, "the formula \"" + formula + "\" is wrong: " + e.GetMsg()};
    }
}

std::string parameters_key(const Parameters& parameters)
{
    std::string key;
    for (const auto& [name, value] : parameters) {
        if (!key.empty()) key += ',';
        key += name + "=" + std::to_string(value);
    }
    return key;
}

} // namespace fathom
