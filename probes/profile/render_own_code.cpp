#include "probes/profile/render_own_code.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace fathom::profile {
namespace {

struct MixPart {
    const char* name;
    double value;
};

std::array<MixPart, 11> parts_of(const CodeMix& mix)
{
    return {{{"floating", mix.floating},
             {"slow_floating", mix.slow_floating},
             {"integer", mix.integer},
             {"load", mix.load},
             {"indirect_load", mix.indirect_load},
             {"store", mix.store},
             {"branch", mix.branch},
             {"jump", mix.jump},
             {"string", mix.string},
             {"atomic", mix.atomic},
             {"crypto", mix.crypto}}};
}

double to_four_places(double value)
{
    return std::round(value * 1e4) / 1e4;
}

std::string mix_text(const CodeMix& mix)
{
    if (mix.waits > 0) return "waits in a loop";
    constexpr double kSmallest = 0.05;
    std::string text;
    for (const MixPart& part : parts_of(mix)) {
        if (part.value < kSmallest) continue;
        std::string name = part.name;
        if (const std::size_t at = name.find('_'); at != std::string::npos) name[at] = ' ';
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * part.value);
    }
    if (mix.floating + mix.slow_floating > 0) text += fmt::format("; {:.2g} operations a byte", mix.flops_per_byte);
    return text.empty() ? "unreadable" : text;
}

/// How near it is to the operator.
std::string similarity_text(const OwnLoop& loop)
{
    constexpr double kMuch = 0.85;
    if (loop.operator_id.empty())
        return loop.mix.waits > 0 ? "none" : fmt::format("none ({:.2f} at best)", loop.similarity);
    return fmt::format("{} {} ({:.2f})", loop.similarity >= kMuch ? "much like" : "somewhat like", loop.operator_id,
                       loop.similarity);
}

} // namespace

std::string own_code_table(const OwnCode& code)
{
    if (!code.why_none.empty()) return "  its own loops: not looked at: " + code.why_none + "\n";
    if (code.loops.empty()) return {};
    std::string text = "  its own loops, found by sampling:\n";
    for (const OwnLoop& loop : code.loops)
        text += fmt::format("    {:>6.1f} %  {:<32} {:<36} {}\n", 100 * loop.share,
                            fmt::format("{}+{:#x}", loop.file, loop.offset), similarity_text(loop), mix_text(loop.mix));
    return text + fmt::format("    {:>6.1f} %  other code\n", 100 * code.others);
}

Json own_code_json(const OwnCode& code)
{
    Json loops = Json::array();
    for (const OwnLoop& loop : code.loops) {
        Json mix = Json::object();
        for (const MixPart& part : parts_of(loop.mix)) {
            if (part.value > 0) mix[part.name] = to_four_places(part.value);
        }
        Json json{{"file", loop.file},
                  {"offset", loop.offset},
                  {"share", to_four_places(loop.share)},
                  {"operator", loop.operator_id.empty() ? Json() : Json(loop.operator_id)},
                  {"similarity", to_four_places(loop.similarity)},
                  {"stand_in", loop.stand_in.empty() ? Json() : Json(loop.stand_in)},
                  {"mix", std::move(mix)},
                  {"packed", to_four_places(loop.mix.packed)},
                  {"operations_per_byte", to_four_places(loop.mix.flops_per_byte)}};
        if (loop.mix.waits > 0) json["waits"] = true;
        loops.push_back(std::move(json));
    }
    return {{"loops", std::move(loops)},
            {"others", to_four_places(code.others)},
            {"why_none", code.why_none.empty() ? Json() : Json(code.why_none)}};
}

} // namespace fathom::profile
