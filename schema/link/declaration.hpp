#pragma once

#include "schema/link/fields.hpp"
#include "schema/link/messages.hpp"

#include <cstdint>
#include <string_view>

namespace fathom::link {

/// What there is to say of one message: its name on the wire, whether it is repeated until it is acknowledged, and its
/// fields with their bounds. Encoding, decoding, type_name() and needs_ack() come from it. Each alternative of Body has
/// a specialization:
///
///     static constexpr std::string_view kType = "heartbeat";
///     static constexpr bool kNeedsAck = false;
///     template <class Fields, class Self> static void declare(Fields& fields, Self& heartbeat);
///
/// Fields is a FieldWriter, with a message that is const, or a FieldReader, with a new one. Names for all members of
/// the message come first, so that a new one that nobody declares does not compile.
template <class Message>
struct Declaration;

/// The fields of a body that core/model writes and reads itself.
template <auto kRead>
struct DeclaredByModel {
    template <class Fields, class Self>
    static void declare(Fields& fields, Self& self)
    {
        if constexpr (Fields::kReads)
            self = kRead(fields.reader(), fields.errors());
        else
            fields.json() = to_json(self);
    }
};

inline constexpr std::int64_t kMaxBytes = 1LL << 60U; ///< of a file, of memory; and other counts that nothing bounds
inline constexpr std::size_t kMaxOperators = 1000;
inline constexpr std::size_t kMaxUnitTypes = 100; ///< as in a catalog
inline constexpr std::size_t kMaxDigestLength = 128;
inline constexpr std::size_t kMaxReason = 1000; ///< bytes of a reason for people

/// The name of a unit type, an operator: something that has one.
inline TextRule name_rule()
{
    return {.min_length = 1, .max_length = 128};
}

/// Of a probe, or of a question about unit types.
struct DeclareNeed {
    template <class Fields, class Self>
    void operator()(Fields& fields, Self& need) const
    {
        auto& [id, is_uploaded] = need;
        fields.text("id", id, name_rule());
        fields.flag("uploaded", is_uploaded);
    }
};

} // namespace fathom::link
