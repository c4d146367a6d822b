#include "core/decide/measurement/cache_rule.hpp"

#include "core/base/json_reader.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_result.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace fathom {
namespace {

constexpr std::int64_t kMaxCaches_bytes = 1LL << 40U; ///< of one unit; more is not believed

/// "153 MiB".
std::string in_mib(double bytes)
{
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), bytes / (1 << 20), std::chars_format::general, 3);
    return error == std::errc{} ? std::string(text.data(), end) + " MiB" : std::string("?");
}

std::string multiple(double value)
{
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4);
    return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
}

} // namespace

std::optional<std::int64_t> last_level_cache_fact(const Json& facts)
{
    if (!facts.is_object()) return std::nullopt;
    const auto found = facts.find("last_level_cache_bytes");
    if (found == facts.end() || !found->is_number_integer()) return std::nullopt;
    const auto bytes = found->get<std::int64_t>();
    if (bytes <= 0 || bytes > kMaxCaches_bytes) return std::nullopt;
    return bytes;
}

std::optional<std::int64_t> measured_caches(const ProbeResult& result)
{
    if (result.host.is_object() && result.host.contains("gpu")) return std::nullopt;
    return last_level_cache_fact(result.host);
}

std::string check_cache_rule(const OperatorManifest& manifest, const Parameters& parameters,
                             std::optional<std::int64_t> last_level_caches_bytes)
{
    if (!manifest.cache_rule || !last_level_caches_bytes) return {};
    const double array_bytes = formula_value(manifest.cache_rule->array_bytes, parameters);
    const auto caches_bytes = static_cast<double>(*last_level_caches_bytes);
    if (array_bytes >= manifest.cache_rule->least_multiple * caches_bytes) return {};
    return "a rate of the caches, not of memory: an array has " + in_mib(array_bytes) + ", the last-level caches " +
           in_mib(caches_bytes) + ", and arrays must have " + multiple(manifest.cache_rule->least_multiple) +
           " times that";
}

} // namespace fathom
