#include "schema/link/read_fields.hpp"

#include "core/base/secret.hpp"

namespace fathom::link {
namespace {

constexpr std::uint64_t kMaxNumber = 1'000'000'000; ///< of a processor or a unit
constexpr std::size_t kMaxCodeLength = 32;

} // namespace

Timestamp read_time(ObjectReader& reader, std::string_view name)
{
    const std::optional<Timestamp> time = reader.optional_time(name);
    if (!time && !reader.has(name)) reader.fail(name, "is required");
    return time.value_or(Timestamp{});
}

std::vector<AttemptId> read_attempt_ids(ObjectReader& reader, std::string_view name)
{
    std::vector<AttemptId> ids;
    for (const std::string& text : reader.strings(name, 1'000'000, {.max_length = 64})) {
        if (std::optional<AttemptId> id = AttemptId::parse(text))
            ids.push_back(std::move(*id));
        else
            reader.fail(name, "holds something that is not an attempt id");
    }
    return ids;
}

std::vector<std::int64_t> read_numbers(ObjectReader& reader, std::string_view name)
{
    std::vector<std::int64_t> values;
    const Json* items = reader.array(name, 0, 100'000);
    if (items == nullptr) return values;
    for (const Json& item : *items) {
        if (item.is_number_unsigned() && item.get<std::uint64_t>() <= kMaxNumber)
            values.push_back(item.get<std::int64_t>());
        else
            reader.fail(name, "must hold whole numbers from 0 to " + std::to_string(kMaxNumber));
    }
    return values;
}

std::map<std::string, std::string> read_text_map(ObjectReader& reader, std::string_view name)
{
    std::map<std::string, std::string> values;
    const Json* json = reader.object(name);
    if (json == nullptr) return values;
    for (const auto& [key, value] : json->items()) {
        if (value.is_string())
            values[key] = value.get<std::string>();
        else
            reader.fail(name, "must hold strings");
    }
    return values;
}

std::string read_bytes(ObjectReader& reader, std::string_view name, std::size_t max_bytes)
{
    // Four characters for three bytes, and what fills up the last four.
    Base64Decoded decoded = base64_decode(reader.required_string(name, {.max_length = max_bytes * 4 / 3 + 8}));
    if (!decoded.ok || decoded.data.size() > max_bytes) reader.fail(name, "is not base64, or too long");
    return std::move(decoded.data);
}

std::optional<Error> read_told_error(ObjectReader& reader, std::string_view name, const ToldErrorRule& rule,
                                     std::vector<FieldError>& errors)
{
    const Json* json = reader.object(name);
    if (json == nullptr) return std::nullopt;
    ObjectReader item(*json, reader.path_of(name), errors);
    const std::string code = item.required_string("code", {.max_length = kMaxCodeLength});
    const Errc errc = code == to_string(rule.known) ? rule.known : rule.others;
    const ObjectReader::StringRule detail{.min_length = rule.min_detail, .max_length = rule.max_detail};
    if (rule.min_detail > 0) return Error{errc, item.required_string("detail", detail)};
    return Error{errc, item.optional_string("detail", detail).value_or(code)};
}

Catalog read_catalog(ObjectReader& reader, std::vector<FieldError>& errors)
{
    const Json* json = reader.object("catalog");
    if (json == nullptr) {
        reader.fail("catalog", "is required");
        return {};
    }
    Result<Catalog> catalog = parse_catalog(*json, "catalog");
    if (catalog) return std::move(*catalog);
    const Error error = catalog.error();
    errors.insert(errors.end(), error.fields.begin(), error.fields.end());
    return {};
}

} // namespace fathom::link
