#include "core/net/url.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a request asks for, the parts of its target lie in it, and what is decoded is text that PostgreSQL takes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const auto check_text = [](std::string_view decoded, std::size_t most) {
        FATHOM_ASSERT(decoded.size() <= most && decoded.find(char{0}) == std::string_view::npos);
        FATHOM_ASSERT(!fathom::Json(decoded).dump().empty()); // throws when it is not UTF-8
    };
    if (const std::optional<std::string> decoded = fathom::net::percent_decode(text)) check_text(*decoded, size);
    if (const auto query = fathom::net::parse_query(text)) {
        for (const auto& [name, value] : *query) {
            check_text(name, size);
            check_text(value, size);
        }
    }
    const std::optional<fathom::net::TargetParts> parts = fathom::net::split_target(text);
    if (!parts) return 0;
    FATHOM_ASSERT(parts->path.starts_with("/") && parts->path.find_first_of("?#") == std::string_view::npos);
    FATHOM_ASSERT(parts->path.size() + parts->query.size() <= size && text.ends_with(parts->query));
    return 0;
}
