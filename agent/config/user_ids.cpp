#include "agent/config/user_ids.hpp"

#include "core/base/parse_number.hpp"

#include <limits>
#include <optional>

namespace fathom::agent {
Result<UserIds> parse_user_ids(std::string_view text)
{
    const std::size_t dash = text.find('-');
    const std::optional<unsigned> first = parse_number<unsigned>(text.substr(0, dash));
    const std::optional<unsigned> last =
        dash == std::string_view::npos ? std::nullopt : parse_number<unsigned>(text.substr(dash + 1));
    if (!first || !last || *first == 0 || *first > *last || *last == std::numeric_limits<unsigned>::max())
        return Error{Errc::kInvalid, "must be a range of user ids without root's, such as 200000-265535"};
    return UserIds{*first, *last};
}

} // namespace fathom::agent
