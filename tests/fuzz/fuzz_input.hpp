#pragma once

#include "core/base/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What the fuzz targets have in common. A property that does not hold stops the process, which libFuzzer reports
/// together with the input.
namespace fathom::fuzz {

/// The bytes that libFuzzer gives, as text.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

/// A refusal can be sent and stored: its text is UTF-8, and it does not grow with what was refused beyond a hundred
/// fields and a word that there are more.
inline void check_refusal(const Error& error)
{
    constexpr std::size_t kMaxFields = 101;
    FATHOM_ASSERT(error.code == Errc::kInvalid || error.code == Errc::kTooLarge);
    FATHOM_ASSERT(!error.detail.empty() && error.fields.size() <= kMaxFields);
    Json sent = {{"detail", error.detail}};
    for (const FieldError& field : error.fields)
        sent[field.field] = field.detail;
    FATHOM_ASSERT(!sent.dump().empty()); // throws when it is not UTF-8
}

/// Reads JSON as `parse` does. What it takes is written by to_json(), and read again as the same; what it refuses is
/// refused well.
/// @return what it took
template <class Parse>
auto check_document(const Json& json, const Parse& parse)
{
    auto value = parse(json);
    if (!value) {
        check_refusal(value.error());
        return value;
    }
    const Json written = to_json(*value);
    const auto again = parse(written);
    FATHOM_ASSERT(again.has_value());
    FATHOM_ASSERT(to_json(*again) == written);
    return value;
}

/// The same of text.
template <class Parse>
void check_document_text(std::string_view text, const Parse& parse)
{
    if (const Result<Json> json = parse_json(text)) check_document(*json, parse);
}

} // namespace fathom::fuzz
