#include "schema/link/attempt_declarations.hpp"
#include "schema/link/center_declarations.hpp"
#include "schema/link/unit_declarations.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace fathom::link {
namespace {

template <class Kind>
Body read_body(ObjectReader& reader, std::vector<FieldError>& errors)
{
    Kind body{};
    FieldReader fields(reader, errors);
    Declaration<Kind>::declare(fields, body);
    return body;
}

struct MessageType {
    std::string_view name;
    bool needs_ack;
    Body (*read)(ObjectReader&, std::vector<FieldError>&);
};

template <class... Kinds>
constexpr std::array<MessageType, sizeof...(Kinds)> types_of(const std::variant<Kinds...>* /*of*/)
{
    return {{MessageType{Declaration<Kinds>::kType, Declaration<Kinds>::kNeedsAck, &read_body<Kinds>}...}};
}

/// In the order of Body.
constexpr auto kTypes = types_of(static_cast<const Body*>(nullptr));

constexpr bool have_names_of_their_own()
{
    for (const MessageType& one : kTypes) {
        const auto same = [&](const MessageType& other) { return other.name == one.name; };
        if (std::count_if(kTypes.begin(), kTypes.end(), same) != 1) return false;
    }
    return true;
}
static_assert(have_names_of_their_own());

Json body_json(const Body& body)
{
    Json json = Json::object();
    FieldWriter fields(json);
    std::visit([&](const auto& kind) { Declaration<std::decay_t<decltype(kind)>>::declare(fields, kind); }, body);
    return json;
}

} // namespace

Message make_message(Body body)
{
    return {MessageId::make(), std::move(body)};
}

bool needs_ack(const Body& body)
{
    return kTypes.at(body.index()).needs_ack;
}

std::string_view type_name(const Body& body)
{
    return kTypes.at(body.index()).name;
}

std::string encode(const Message& message)
{
    const Json json = {{"v", kVersion},
                       {"id", message.id.value},
                       {"type", type_name(message.body)},
                       {"body", body_json(message.body)}};
    // A job's name may hold bytes that are not UTF-8 only if a codec let them in; never throw here.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::variant<Message, DecodeFailure> decode(std::string_view text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxMessageBytes});
    if (!json) return DecodeFailure{std::nullopt, json.error()};
    std::vector<FieldError> errors;
    ObjectReader envelope(*json, "", errors);
    const MessageId id = read_id<MessageId>(envelope, "id");
    const std::optional<MessageId> known_id = errors.empty() ? std::optional(id) : std::nullopt;
    const std::int64_t version = envelope.required_integer("v", 0, 1'000'000);
    const std::string name = envelope.required_string("type", {.max_length = 64});
    if (errors.empty() && version != kVersion)
        return DecodeFailure{known_id,
                             Error{Errc::kInvalid, "message version " + std::to_string(version) +
                                                       " is not spoken here, only " + std::to_string(kVersion)}};
    const auto* const type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const MessageType& one) { return one.name == name; });
    if (errors.empty() && type == kTypes.end())
        return DecodeFailure{known_id, Error{Errc::kInvalid, "unknown message type \"" + name + "\""}};
    const Json* body = envelope.object("body");
    if (body == nullptr) envelope.fail("body", "is required");
    if (!errors.empty()) return DecodeFailure{known_id, Error{Errc::kInvalid, "malformed message", std::move(errors)}};

    ObjectReader fields(*body, "body", errors);
    Body value = type->read(fields, errors);
    if (!errors.empty())
        return DecodeFailure{known_id, Error{Errc::kInvalid, "malformed " + name + " message", std::move(errors)}};
    return Message{id, std::move(value)};
}

} // namespace fathom::link
