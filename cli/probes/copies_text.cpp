#include "cli/probes/copies_text.hpp"

#include "cli/client/json_view.hpp"
#include "core/decide/statistics/slowdown.hpp"

#include <fmt/format.h>

#include <vector>

namespace fathom::cli {
namespace {

struct ShownTimes {
    std::vector<double> samples_s;
    double median_s{};
};

/// Of an operator's result, beside the other copies or alone.
ShownTimes times_of(const Json& json)
{
    ShownTimes times{.samples_s = {}, .median_s = number_of(json, "median_s").value_or(0)};
    for (const Json& sample : items_of(json, "samples_s")) {
        if (sample.is_number()) times.samples_s.push_back(sample.get<double>());
    }
    return times;
}

std::string factor_of(const ShownTimes& beside, const ShownTimes& alone)
{
    if (!(beside.median_s > 0) || !(alone.median_s > 0)) return "-";
    return fmt::format("{:.3g}",
                       slowdown_of({beside.samples_s, beside.median_s}, {alone.samples_s, alone.median_s}).ratio);
}

} // namespace

std::string copies_text(const Json& run, const TableStyle& style)
{
    const Json& result = member(run, "result");
    const Json& copies = items_of(result, "copies");
    if (copies.empty()) return "";
    Table table(
        {{"OPERATOR"}, {"SIZE", Align::kLeft, 1, true}, {"ALONE", Align::kRight}, {"BESIDE THE OTHERS", Align::kLeft}});
    const Json& operators = items_of(result, "operators");
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Json& alone = member(operators[i], "alone");
        const ShownTimes alone_times = times_of(alone);
        std::string factors = factor_of(times_of(operators[i]), alone_times);
        for (const Json& copy : copies) {
            const Json& of_copy = items_of(copy, "operators");
            factors += ", " + (i < of_copy.size() ? factor_of(times_of(of_copy[i]), alone_times) : std::string("-"));
        }
        table.add_row({text_of(operators[i], "id"), parameters_of(operators[i], "parameters"),
                       duration_of(alone, "median_s"), factors});
    }
    return "\nEach copy's time over that alone\n" + table.render(style);
}

} // namespace fathom::cli
