#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/center.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::link {

// Fields that several messages have. Each notes with the reader what is wrong, and then returns an empty value.

template <class IdType>
IdType read_id(ObjectReader& reader, std::string_view name)
{
    const std::string text = reader.required_string(name, {.max_length = 64});
    const std::optional<IdType> id = IdType::parse(text);
    if (!id) reader.fail(name, "is not an id of the form " + std::string(IdType::kPrefix) + "_…");
    return id.value_or(IdType{});
}

/// Required.
Timestamp read_time(ObjectReader& reader, std::string_view name);

std::vector<AttemptId> read_attempt_ids(ObjectReader& reader, std::string_view name);

/// Numbers of processors or units.
std::vector<std::int64_t> read_numbers(ObjectReader& reader, std::string_view name);

/// A JSON object whose values are strings.
std::map<std::string, std::string> read_text_map(ObjectReader& reader, std::string_view name);

/// Required: bytes that are base64 on the wire, at most `max_bytes` of them.
std::string read_bytes(ObjectReader& reader, std::string_view name, std::size_t max_bytes);

/// An error that the other side names. Only one class of them matters here.
struct ToldErrorRule {
    Errc known;             ///< that class
    Errc others;            ///< what every other one is taken for
    std::size_t min_detail; ///< bytes; 0: an error without one has its code for it
    std::size_t max_detail;
};
std::optional<Error> read_told_error(ObjectReader& reader, std::string_view name, const ToldErrorRule& rule,
                                     std::vector<FieldError>& errors);

/// The field `catalog`, required; what is wrong in it is noted in `errors`.
Catalog read_catalog(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::link
