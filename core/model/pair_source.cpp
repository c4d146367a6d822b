#include "core/model/pair_source.hpp"

#include <optional>
#include <string_view>

namespace fathom {

std::string_view to_string(PairSource source)
{
    switch (source) {
    case PairSource::kDefault:
        return "default";
    case PairSource::kClassAverage:
        return "class_average";
    case PairSource::kCompleted:
        return "completed";
    case PairSource::kMeasured:
        return "measured";
    }
    return "default";
}

std::optional<PairSource> parse_pair_source(std::string_view text)
{
    for (const PairSource one :
         {PairSource::kDefault, PairSource::kClassAverage, PairSource::kCompleted, PairSource::kMeasured}) {
        if (text == to_string(one)) return one;
    }
    return std::nullopt;
}

} // namespace fathom
