#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// Who signs in, as the provider says.
struct Person {
    std::string subject;             ///< of the issuer; never given to anybody else
    std::string name;                ///< empty: the claim is not there
    std::vector<std::string> groups; ///< 1000 at most
};

/// A claim by its name, or by its way through claims, `realm_access.roles`. Null: there is none.
const Json* find_claim(const Json& claims, std::string_view name);

/// `claims` holds a subject (check_claims).
Person person_of(const Json& claims, std::string_view name_claim, std::string_view groups_claim);

} // namespace fathom::server
