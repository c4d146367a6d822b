#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// Why somebody was not signed in by the provider.
struct OidcRefusal {
    enum class Why {
        kUnknown,     ///< no such sign-in is under way in this browser: too late, used already, or another's
        kTooMany,     ///< of one network
        kUnreachable, ///< the provider, or too slow
        kWrongAnswer, ///< of the provider: not what the standard says, or not for this
        kDenied,      ///< the provider says that it did not sign them in
        kNoGroup,     ///< none of their groups has a role
        kDisabled,    ///< by an administrator
        kNameTaken,   ///< by somebody who does not sign in so
        kNameUnfit,   ///< for an account, or there is none
        kNotNow,      ///< the database is away
    };
    Why why{Why::kNotNow};
    std::string detail; ///< for the log: never a secret, code or token
    std::string name;   ///< theirs, at the provider
    std::vector<std::string> groups;
};

/// Stable names, as logs, metrics and the audit log have them.
constexpr std::string_view to_string(OidcRefusal::Why why)
{
    using Why = OidcRefusal::Why;
    switch (why) {
    case Why::kUnknown:
        return "unknown_sign_in";
    case Why::kTooMany:
        return "too_many";
    case Why::kUnreachable:
        return "provider_unreachable";
    case Why::kWrongAnswer:
        return "wrong_answer";
    case Why::kDenied:
        return "denied";
    case Why::kNoGroup:
        return "no_group";
    case Why::kDisabled:
        return "disabled";
    case Why::kNameTaken:
        return "name_taken";
    case Why::kNameUnfit:
        return "name_unfit";
    case Why::kNotNow:
        return "not_now";
    }
    return "not_now";
}

} // namespace fathom::server
