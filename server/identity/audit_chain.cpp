#include "server/identity/audit_chain.hpp"

#include "core/base/secret.hpp"

namespace fathom::server {

std::string audit_hash(const std::string& previous_sha256, const ChainedAct& act)
{
    std::string text = previous_sha256;
    const auto add = [&text](const std::string& field) {
        text += '\n';
        text += std::to_string(field.size());
        text += ':';
        text += field;
    };
    add(std::to_string(act.number));
    add(std::to_string(act.at_us));
    add(act.actor);
    add(act.action);
    add(act.subject);
    add(act.request_id);
    add(act.detail);
    return sha256_hex(text);
}

void AuditChainCheck::expect(std::int64_t number, std::string sha256)
{
    known_number_ = number;
    known_sha256_ = std::move(sha256);
    check_known();
}

void AuditChainCheck::check_known()
{
    if (!known_number_ || number_ != *known_number_) return;
    if (sha256_ != known_sha256_) fault_ = "act " + std::to_string(number_) + " had another hash when it was noted";
    known_number_.reset();
}

void AuditChainCheck::add(const ChainedAct& act)
{
    if (!fault_.empty()) return;
    if (act.number != number_ + 1) {
        fault_ = "act " + std::to_string(number_ + 1) + " is missing";
        return;
    }
    number_ = act.number;
    sha256_ = audit_hash(sha256_, act);
    ++acts_;
    if (sha256_ != act.sha256)
        fault_ = "act " + std::to_string(number_) + ", or one before it, was changed";
    else
        check_known();
}

void AuditChainCheck::finish()
{
    if (!fault_.empty()) return;
    if (number_ != ends_.last_number || sha256_ != ends_.last_sha256)
        fault_ = "the last act is number " + std::to_string(ends_.last_number) + ", and the chain ends at " +
                 std::to_string(number_);
    else if (known_number_)
        fault_ = "act " + std::to_string(*known_number_) + ", whose hash was noted, is not kept (any more)";
}

} // namespace fathom::server
