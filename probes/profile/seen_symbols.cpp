#include "probes/profile/seen_symbols.hpp"

#include "core/decide/probing/match.hpp"
#include "probes/profile/routine_work.hpp"
#include "probes/profile/symbol_table.hpp"

#include <fmt/format.h>

#include <array>

namespace fathom::profile {
namespace {

struct NotCounted {
    std::string_view symbol;
    std::string_view why;
};

constexpr NotCounted kNotCounted[] = {
#define FATHOM_NOT_COUNTED(symbol, why) {symbol, why},
#include "probes/profile/symbols/not_counted.def"
#undef FATHOM_NOT_COUNTED
};

using Dimensions = std::array<std::int64_t, kMaxDimensions>;

/// Dimensions of calls with every name that calls of an entry point may get.
std::vector<Dimensions> dimensions_of_each_name(const SymbolInfo& info)
{
    constexpr std::int64_t kHighestRank = 3;
    constexpr std::int64_t kTypes = 3; // fp16, bf16, fp32
    std::vector<Dimensions> all;
    const auto add = [&](std::size_t first, std::int64_t value, std::size_t second, std::int64_t other) {
        Dimensions dimensions;
        dimensions.fill(1);
        dimensions[first] = value;
        dimensions[second] = other;
        all.push_back(dimensions);
    };
    switch (info.action) {
    case Action::kCall:
    case Action::kSparse:
    case Action::kCudnnConvolution:
    case Action::kBytes:
        add(dimension::kPrimitive, primitive::kConvolution, dimension::kDataType, kTypes);
        break;
    case Action::kFftwExecute:
    case Action::kCufftExecute:
        for (std::int64_t rank = 1; rank <= kHighestRank; ++rank)
            add(dimension::kRank, rank, dimension::kTransform, 'c');
        break;
    case Action::kDnnlExecute:
        for (const std::int64_t kind : {primitive::kConvolution, primitive::kInnerProduct, primitive::kMatmul}) {
            for (std::int64_t type = 1; type <= kTypes; ++type)
                add(dimension::kPrimitive, kind, dimension::kDataType, type);
        }
        break;
    case Action::kMessage: // its time is reported, not its executions
    case Action::kForget:
    case Action::kForgetNumber:
    case Action::kFftwPlan:
    case Action::kCufftPlan:
    case Action::kSparseCreate:
    case Action::kCudnnDescriptor:
        break;
    }
    return all;
}

} // namespace

std::set<std::string> reported_symbols()
{
    std::set<std::string> names;
    for (const SymbolInfo& info : kSymbols) {
        for (const Dimensions& dimensions : dimensions_of_each_name(info)) {
            std::int64_t executions = 0;
            names.insert(plain_symbol(describe_calls(info, dimensions, executions).symbol));
        }
    }
    for (const VectorFunction& function : kVectorFunctions)
        names.insert(plain_symbol(function.name));
    return names;
}

std::string_view why_not_counted(std::string_view symbol)
{
    for (const NotCounted& one : kNotCounted) {
        if (one.symbol == symbol) return one.why;
    }
    return {};
}

std::vector<std::string_view> marked_symbols()
{
    std::vector<std::string_view> symbols;
    for (const NotCounted& one : kNotCounted)
        symbols.push_back(one.symbol);
    return symbols;
}

std::vector<NamedSymbol> named_symbols(const std::vector<OperatorManifest>& library)
{
    const std::set<std::string> reported = reported_symbols();
    std::vector<NamedSymbol> named;
    for (const OperatorManifest& manifest : library) {
        for (const std::string& symbol : manifest.signature.symbols) {
            const bool is_reported = reported.contains(plain_symbol(symbol));
            named.push_back({.operator_id = manifest.id,
                             .symbol = symbol,
                             .is_reported = is_reported,
                             .why_not = is_reported ? std::string_view() : why_not_counted(symbol)});
        }
    }
    return named;
}

std::string symbols_table(const std::vector<OperatorManifest>& library)
{
    std::string text = fmt::format("{:<20} {:<46} {}\n", "OPERATOR", "ENTRY POINT", "CALLS");
    for (const NamedSymbol& one : named_symbols(library)) {
        const std::string_view why = one.why_not.empty() ? "the profiler does not know it" : one.why_not;
        text += fmt::format("{:<20} {:<46} {}\n", one.operator_id, one.symbol,
                            one.is_reported ? std::string("counted") : fmt::format("not counted: {}", why));
    }
    return text;
}

} // namespace fathom::profile
