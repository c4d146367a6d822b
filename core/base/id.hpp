#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// A fresh ULID: 48 bits of milliseconds, 80 random bits, in Crockford base 32 (26 characters).
/// Ids made by one process in one millisecond still ascend. Thread-safe.
std::string new_ulid();

/// True for 26 characters of Crockford base 32 in upper case that fit 128 bits.
bool is_ulid(std::string_view text);

/// An id of one kind of thing: `prefix_ULID`. Kinds do not mix.
template <class Kind>
struct Id {
    std::string value;

    static constexpr std::string_view kPrefix = Kind::kPrefix;

    static Id make() { return Id{std::string(kPrefix) + "_" + new_ulid()}; }

    /// Empty when the text is not an id of this kind.
    static std::optional<Id> parse(std::string_view text)
    {
        if (text.size() != kPrefix.size() + 27 || !text.starts_with(kPrefix) || text[kPrefix.size()] != '_' ||
            !is_ulid(text.substr(kPrefix.size() + 1)))
            return std::nullopt;
        return Id{std::string(text)};
    }

    auto operator<=>(const Id&) const = default;
};

// The prefixes are part of the REST contract.
struct JobKind {
    static constexpr std::string_view kPrefix = "job";
};
struct AttemptKind {
    static constexpr std::string_view kPrefix = "att";
};
struct CenterKind {
    static constexpr std::string_view kPrefix = "ctr";
};
struct UnitTypeKind {
    static constexpr std::string_view kPrefix = "ut";
};
struct ProbeTaskKind {
    static constexpr std::string_view kPrefix = "ptk";
};
struct ProbeRunKind {
    static constexpr std::string_view kPrefix = "prn";
};
struct TokenKind {
    static constexpr std::string_view kPrefix = "tok";
};
struct EnrolmentTokenKind {
    static constexpr std::string_view kPrefix = "enr";
};
struct MessageKind {
    static constexpr std::string_view kPrefix = "msg";
};
struct ReplicaKind {
    static constexpr std::string_view kPrefix = "rep";
};
struct OperatorReviewKind {
    static constexpr std::string_view kPrefix = "orv";
};
struct RequestKind {
    static constexpr std::string_view kPrefix = "req";
};

using JobId = Id<JobKind>;
using AttemptId = Id<AttemptKind>; ///< one try to run a job at one center; also its name in the batch system
using CenterId = Id<CenterKind>;
using UnitTypeId = Id<UnitTypeKind>;
using ProbeTaskId = Id<ProbeTaskKind>;
using ProbeRunId = Id<ProbeRunKind>;
using TokenId = Id<TokenKind>;
using EnrolmentTokenId = Id<EnrolmentTokenKind>;
using MessageId = Id<MessageKind>;
using ReplicaId = Id<ReplicaKind>;
using OperatorReviewId = Id<OperatorReviewKind>;
using RequestId = Id<RequestKind>;

} // namespace fathom

template <class Kind>
struct std::hash<fathom::Id<Kind>> {
    std::size_t operator()(const fathom::Id<Kind>& id) const noexcept { return std::hash<std::string>{}(id.value); }
};
