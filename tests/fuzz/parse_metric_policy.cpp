#include "core/decide/scoring/metric_policy.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_metric_policy() answers; what it took is written and read again as the same, also by the
/// fewer rules of stored policies.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto parse = [](const fathom::Json& json) { return fathom::parse_metric_policy(json); };
    const auto parse_stored = [](const fathom::Json& json) {
        return fathom::parse_metric_policy(json, fathom::PolicyRules::kShape);
    };
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::MetricPolicy> policy = fathom::fuzz::check_document(*json, parse);
    const fathom::Result<fathom::MetricPolicy> stored = fathom::fuzz::check_document(*json, parse_stored);
    FATHOM_ASSERT(!policy || stored);
    if (!policy) return 0;
    const auto reference = fathom::parse_policy_reference(fathom::policy_name(*policy));
    FATHOM_ASSERT(reference && reference->id == policy->id && reference->version == policy->version);
    return 0;
}
