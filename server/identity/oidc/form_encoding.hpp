#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fathom::server {

/// The S256 code challenge of a code verifier (RFC 7636, section 4.2).
std::string code_challenge(std::string_view code_verifier);

/// For query strings and form bodies: all but A-Z a-z 0-9 - . _ ~ as %XX.
std::string percent_encode(std::string_view text);
/// `a=1&b=x%20y`.
std::string form_encode(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

} // namespace fathom::server
