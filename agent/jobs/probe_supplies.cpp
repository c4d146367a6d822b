#include "agent/jobs/probe_supplies.hpp"

#include "core/model/operator_package.hpp"

namespace fathom::agent {
namespace {

constexpr const char* kKeysVariable = "FATHOM_OPERATOR_KEYS";
constexpr const char* kFetchAuthority = "fetch-ca.pem";        ///< a file in a probe's working folder
constexpr const char* kKeysFile = "trusted-operator-keys.pem"; ///< in a probe's working folder

bool is_probe(const AttemptOrder& order)
{
    return order.label == "probe";
}

} // namespace

Result<void> check_uploads(const AttemptOrder& order, const OperatorTrust& trust)
{
    if (!is_probe(order)) return {};
    for (const auto& [name, content] : order.files) {
        if (!is_operator_package_name(name)) continue;
        const Result<OperatorPackage> package = parse_operator_package_text(content);
        if (!package) return Error{Errc::kInvalid, name + ": " + describe(package.error())};
        if (const Result<void> verified = verify_operator_package(*package, trust.keys); !verified)
            return Error{Errc::kForbidden, name + ": " + verified.error().detail};
    }
    return {};
}

void pass_trusted_keys(RunOrder& run, const OperatorTrust& trust)
{
    run.environment.erase(kKeysVariable);
    run.order.environment.erase(kKeysVariable);
    if (!is_probe(run.order) || trust.keys.empty()) return;
    run.order.files.insert_or_assign(kKeysFile, trust.pem);
    run.order.environment[kKeysVariable] = kKeysFile;
}

void pass_fetch_site(RunOrder& run, const std::string& url, const std::string& authority_pem)
{
    if (!is_probe(run.order) || url.empty()) return;
    if (!run.environment.emplace("FATHOM_FETCH_URL", url).second) return;
    run.order.files.emplace(kFetchAuthority, authority_pem);
    run.environment.emplace("FATHOM_FETCH_CA_FILE", kFetchAuthority);
}

void pass_resource_type(RunOrder& run, const std::string& resource_type)
{
    constexpr const char* kVariable = "FATHOM_RESOURCE_TYPE";
    if (!is_probe(run.order)) return;
    run.environment.erase(kVariable);
    run.order.environment.erase(kVariable);
    if (resource_type != "cpu") run.environment[kVariable] = resource_type;
}

} // namespace fathom::agent
