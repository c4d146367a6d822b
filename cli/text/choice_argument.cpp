#include "cli/text/choice_argument.hpp"

#include <algorithm>

namespace fathom::cli {

Result<Json> parse_budget_argument(const std::string& text)
{
    const std::size_t unit = text.find_first_not_of("0123456789.");
    const std::size_t currency = text.find_first_not_of(' ', std::min(unit, text.size()));
    if (unit == 0 || currency == std::string::npos || text.size() - currency != 3)
        return Error{Errc::kInvalid, "--budget \"" + text + "\" must be an amount with its currency, such as 12.50EUR"};
    return Json{{"amount", text.substr(0, unit)}, {"currency", text.substr(currency)}};
}

Json preference_of_argument(const std::string& text)
{
    if (text.find('=') == std::string::npos) return text;
    Json weights = Json::object();
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const std::size_t equals = std::min(part.find('='), part.size());
        const Result<Json> number = parse_json(part.substr(std::min(equals + 1, part.size())));
        weights[part.substr(0, equals)] = number ? *number : Json(part);
        begin = end + 1;
    }
    return weights;
}

} // namespace fathom::cli
