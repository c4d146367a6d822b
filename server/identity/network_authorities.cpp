#include "server/identity/network_authorities.hpp"

namespace fathom::server {
namespace {

void append_pem(std::string& bundle, const std::string& pem)
{
    bundle += pem;
    if (!pem.ends_with('\n')) bundle += '\n';
}

} // namespace

std::string_view to_string(RotationPhase phase)
{
    switch (phase) {
    case RotationPhase::kNone:
        return "none";
    case RotationPhase::kBegun:
        return "begun";
    case RotationPhase::kSwitched:
        return "switched";
    }
    return "";
}

RotationPhase AuthorityCertificates::phase() const
{
    if (past) return RotationPhase::kSwitched;
    return next ? RotationPhase::kBegun : RotationPhase::kNone;
}

std::string AuthorityCertificates::bundle_pem() const
{
    std::string bundle;
    append_pem(bundle, current.pem);
    if (next) append_pem(bundle, next->pem);
    if (past) append_pem(bundle, past->pem);
    return bundle;
}

std::vector<std::string> AuthorityCertificates::sha256_hex() const
{
    std::vector<std::string> all{current.facts.sha256_hex};
    if (next) all.push_back(next->facts.sha256_hex);
    if (past) all.push_back(past->facts.sha256_hex);
    return all;
}

Result<NetworkAuthorities> only_authority(const net::Credential& authority)
{
    const Result<net::CertificateFacts> facts = net::read_certificate(authority.certificate_pem);
    if (!facts) return facts.error();
    NetworkAuthorities only;
    only.certificates.current = {.pem = authority.certificate_pem, .facts = *facts, .since = facts->not_before};
    only.key_pem = authority.key_pem;
    return only;
}

std::string authority_advice(RotationPhase phase)
{
    switch (phase) {
    case RotationPhase::kNone:
        return "replace it: fathom authority rotate --begin";
    case RotationPhase::kBegun:
        return "go on with its replacement: fathom authority rotate --switch";
    case RotationPhase::kSwitched:
        return "end the replacement of the one before, then replace it: fathom authority rotate --finish";
    }
    return "";
}

std::shared_ptr<const NetworkAuthorities> AuthorityHolder::get() const
{
    const std::scoped_lock lock(mutex_);
    return authorities_;
}

void AuthorityHolder::set(NetworkAuthorities authorities)
{
    auto fresh = std::make_shared<const NetworkAuthorities>(std::move(authorities));
    {
        const std::scoped_lock lock(mutex_);
        authorities_ = std::move(fresh);
    }
    if (on_change) on_change();
}

} // namespace fathom::server
