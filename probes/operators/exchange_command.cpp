#include "probes/operators/exchange_command.hpp"

#include "core/base/parse_number.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

namespace fathom::probes {

ExchangeCommand read_exchange_command()
{
    std::array<char, 64> line{};
    if (std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr) return {};
    std::string_view text(line.data());
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    if (text == "check") return {ExchangeTask::kCheck};
    if (!text.starts_with("run ")) return {};
    const std::optional<std::int64_t> count = parse_number<std::int64_t>(text.substr(4));
    return count && *count > 0 ? ExchangeCommand{ExchangeTask::kRun, *count} : ExchangeCommand{};
}

} // namespace fathom::probes
