#include "core/model/formula.hpp"

#include "core/base/result.hpp"
#include "core/base/utf8.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

/// The length of the number that `text` begins with: 12, 1.5, 2e-3; 0 if it begins with none.
std::size_t number_length(std::string_view text)
{
    const auto digits_end = [&](std::size_t at) { return std::min(text.find_first_not_of(kDigits, at), text.size()); };
    std::size_t end = digits_end(0);
    if (end == 0) return 0;
    if (text.substr(end).starts_with('.')) end = digits_end(end + 1);
    if (text.substr(end).starts_with('e')) {
        const std::size_t digits = end + (text.substr(end + 1).starts_with('-') ? 2 : 1);
        if (digits < text.size() && digits_end(digits) > digits) end = digits_end(digits);
    }
    return end;
}

/// The first character of a UTF-8 text that has one, whole: refusals are sent as UTF-8.
std::string first_character(std::string_view text)
{
    std::size_t length = 1;
    while (length < text.size() && !is_utf8(text.substr(0, length)))
        ++length;
    return std::string(text.substr(0, length));
}

/// Walks a formula and says what does not belong into one. The parser knows much more than a manifest should
/// say (assignments, conditions, random numbers, several results), so it is not asked.
class FormulaCheck {
  public:
    FormulaCheck(std::string_view formula, const Parameters& parameters) : rest_(formula), parameters_(parameters) {}

    /// Empty, or the problem.
    std::string problem()
    {
        while (!rest_.empty()) {
            if (std::string found = take(); !found.empty()) return found;
        }
        return "";
    }

  private:
    std::string take()
    {
        const char first = rest_.front();
        if (kLetters.find(first) != std::string_view::npos) return take_name();
        if (const std::size_t length = number_length(rest_); length > 0) {
            rest_.remove_prefix(length);
            return "";
        }
        if (std::string_view(" +-*/^(),").find(first) == std::string_view::npos)
            return "the character '" + first_character(rest_) + "' has no meaning in it";
        rest_.remove_prefix(1);
        if (first == '(') takes_commas_.push_back(false);
        if (first == ')' && !takes_commas_.empty()) takes_commas_.pop_back(); // a parenthesis too many is the parser's
        if (first == ',' && (takes_commas_.empty() || !takes_commas_.back()))
            return "a comma stands outside of min and max";
        return "";
    }

    std::string take_name()
    {
        std::size_t end = 1;
        while (end < rest_.size() && (kLetters.find(rest_[end]) != std::string_view::npos ||
                                      kDigits.find(rest_[end]) != std::string_view::npos))
            ++end;
        const std::string name(rest_.substr(0, end));
        rest_.remove_prefix(name.size());
        if (parameters_.contains(name)) return "";
        const bool takes_commas = name == "min" || name == "max";
        if (!takes_commas && name != "log2" && name != "ln" && name != "sqrt")
            return "it knows no \"" + name + "\"; known are the parameters, log2, ln, sqrt, min and max";
        if (!rest_.starts_with('(')) return name + " needs its argument in parentheses";
        rest_.remove_prefix(1);
        takes_commas_.push_back(takes_commas);
        return "";
    }

    std::string_view rest_;
    const Parameters& parameters_;
    std::vector<bool> takes_commas_; ///< for each open parenthesis: whether it is that of min or max
};

/// A formula that was checked and read, ready for other values of the same names.
class CompiledFormula {
  public:
    /// Throws mu::Parser::exception_type.
    CompiledFormula(const std::string& formula, const Parameters& parameters)
    {
        for (const auto& [name, value] : parameters)
            parser_.DefineVar(name, &values_[name]);
        parser_.SetExpr(formula);
    }
    CompiledFormula(const CompiledFormula&) = delete; // the parser points into values_
    CompiledFormula& operator=(const CompiledFormula&) = delete;

    double evaluate(const Parameters& parameters)
    {
        for (const auto& [name, value] : parameters)
            values_.at(name) = static_cast<double>(value);
        return parser_.Eval();
    }

  private:
    std::map<std::string, double> values_;
    mu::Parser parser_;
};

/// Reading a formula costs a hundred times what evaluating it costs, and searches for a size evaluate one
/// formula dozens of times: so each thread keeps those that it used last.
constexpr std::size_t kKeptFormulas = 256;

CompiledFormula& compiled(const std::string& formula, const Parameters& parameters)
{
    static thread_local std::map<std::string, std::unique_ptr<CompiledFormula>> kept;
    std::string key = formula;
    for (const auto& [name, value] : parameters)
        key += ';' + name;
    const auto found = kept.find(key);
    if (found != kept.end()) return *found->second;
    auto fresh = std::make_unique<CompiledFormula>(formula, parameters);
    fresh->evaluate(parameters); // a wrong formula throws here and is not kept
    if (kept.size() >= kKeptFormulas) kept.clear();
    return *kept.emplace(std::move(key), std::move(fresh)).first->second;
}

} // namespace

Result<double> evaluate_formula(const std::string& formula, const Parameters& parameters)
{
    if (formula.empty() || formula.size() > 512)
        return Error{Errc::kInvalid, "a formula must have 1 to 512 characters"};
    if (!is_utf8(formula)) return Error{Errc::kInvalid, "a formula must be UTF-8"};
    if (const std::string problem = FormulaCheck(formula, parameters).problem(); !problem.empty())
        return Error{Errc::kInvalid, "the formula \"" + formula + "\" is wrong: " + problem};
    try {
        const double result = compiled(formula, parameters).evaluate(parameters);
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

double formula_value(const std::string& formula, const Parameters& parameters)
{
    const Result<double> value = evaluate_formula(formula, parameters);
    return value ? *value : 0;
}

} // namespace fathom
