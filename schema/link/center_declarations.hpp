#pragma once

#include "core/base/sha256.hpp"
#include "schema/link/declaration.hpp"

// The messages about a center: its connection, its certificate, what it offers, and its files.
namespace fathom::link {

template <>
struct Declaration<Hello> {
    static constexpr std::string_view kType = "hello";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& hello)
    {
        auto& [agent_version, catalog, inventory, library_digest, authorities, host_id] = hello;
        fields.text("agent_version", agent_version, {.max_length = 64});
        fields.catalog(catalog);
        fields.items("inventory", inventory, 1'000'000, [](auto& of, auto& item) {
            auto& [attempt_id, state] = item;
            of.id("attempt_id", attempt_id);
            of.text("state", state, {.one_of = {"running", "ended"}});
        });
        fields.optional_text("library_digest", library_digest, {.max_length = kMaxDigestLength});
        fields.optional_strings("authorities", authorities, kMaxAuthorities, {.max_length = kMaxDigestLength});
        fields.text_if_any("host_id", host_id, {.max_length = kMaxDigestLength});
    }
};

template <>
struct Declaration<Welcome> {
    static constexpr std::string_view kType = "welcome";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& welcome)
    {
        auto& [server_version, center_id, center_name, heartbeat_s, stop, forget, balance_steps, balance_pause_s,
               takes_queues] = welcome;
        fields.text("server_version", server_version, {.max_length = 64});
        fields.text("center_id", center_id, {.max_length = 64});
        fields.text("center_name", center_name, {.max_length = 128});
        fields.integer("heartbeat_s", heartbeat_s, 1, 3600);
        fields.ids("stop", stop);
        fields.ids("forget", forget);
        fields.integer_if_any("balance_steps", balance_steps, kMaxBytes);
        if (Fields::kReads || balance_steps > 0) fields.number_or_zero("balance_pause_s", balance_pause_s, 3600);
        fields.flag_if_set("takes_queues", takes_queues);
    }
};

template <>
struct Declaration<Heartbeat> {
    static constexpr std::string_view kType = "heartbeat";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& heartbeat)
    {
        auto& [load_1min, running_attempts, spooled_messages] = heartbeat;
        constexpr std::int64_t kMaxCount = 1LL << 40U;
        fields.number("load_1min", load_1min, 0, 1e9);
        fields.integer("running_attempts", running_attempts, 0, kMaxCount);
        fields.integer("spooled_messages", spooled_messages, 0, kMaxCount);
    }
};

template <>
struct Declaration<RenewCertificate> {
    static constexpr std::string_view kType = "renew_certificate";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& renew)
    {
        auto& [request_pem] = renew;
        fields.text("request_pem", request_pem, {.min_length = 1, .max_length = 16384});
    }
};

template <>
struct Declaration<RenewedCertificate> {
    static constexpr std::string_view kType = "renewed_certificate";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& renewed)
    {
        auto& [certificate_pem] = renewed;
        fields.text("certificate_pem", certificate_pem, {.min_length = 1, .max_length = 65536});
    }
};

template <>
struct Declaration<TrustedAuthorities> {
    static constexpr std::string_view kType = "trusted_authorities";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& trusted)
    {
        auto& [certificates_pem, signer_sha256, renew_within_s] = trusted;
        constexpr double kMaxRenewal_s = 30 * 86400; // over how long certificates may be renewed
        fields.text("certificates_pem", certificates_pem, {.min_length = 1, .max_length = kMaxAuthoritiesBytes});
        fields.text("signer_sha256", signer_sha256, {.min_length = 1, .max_length = kMaxDigestLength});
        fields.number("renew_within_s", renew_within_s, 0, kMaxRenewal_s);
    }
};

template <>
struct Declaration<CatalogChanged> {
    static constexpr std::string_view kType = "catalog_changed";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& changed)
    {
        auto& [catalog] = changed;
        fields.catalog(catalog);
    }
};

template <>
struct Declaration<UnitTypesQuery> {
    static constexpr std::string_view kType = "unit_types_query";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& query)
    {
        auto& [query_id, operators] = query;
        fields.id("query_id", query_id);
        fields.items("operators", operators, kMaxOperators, DeclareNeed{});
        fields.require(!operators.empty(), "operators", "must name at least one");
    }
};

template <>
struct Declaration<UnitTypesAnswer> {
    static constexpr std::string_view kType = "unit_types_answer";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& answer)
    {
        auto& [query_id, able, unable] = answer;
        fields.id("query_id", query_id);
        fields.items("able", able, kMaxUnitTypes, [](auto& of, auto& type) {
            auto& [name, unit_count, free_count] = type;
            of.text("name", name, name_rule());
            of.integer("unit_count", unit_count, 0, 1'000'000);
            of.integer("free_count", free_count, 0, 1'000'000);
        });
        fields.items("unable", unable, kMaxUnitTypes, [](auto& of, auto& type) {
            auto& [name, reason] = type;
            of.text("name", name, name_rule());
            of.text("reason", reason, {.max_length = kMaxReason});
        });
    }
};

template <>
struct Declaration<KeptFileQuery> {
    static constexpr std::string_view kType = "kept_file_query";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& query)
    {
        auto& [query_id, sha256, offset_bytes, most_bytes] = query;
        fields.id("query_id", query_id);
        fields.text("sha256", sha256, {.max_length = kSha256Digits});
        fields.require(is_sha256(sha256), "sha256", "must be 64 lower-case hex digits");
        fields.integer("offset_bytes", offset_bytes, 0, kMaxBytes);
        fields.integer("most_bytes", most_bytes, 1, kMaxKeptPieceBytes);
    }
};

template <>
struct Declaration<KeptFilePiece> {
    static constexpr std::string_view kType = "kept_file_piece";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& piece)
    {
        auto& [query_id, data, refusal] = piece;
        fields.id("query_id", query_id);
        fields.bytes("data_base64", data, kMaxKeptPieceBytes);
        // Only two classes matter to who asked: there is no copy any more, or anything else.
        fields.error_if_any(
            "refusal", refusal,
            {.known = Errc::kNotFound, .others = Errc::kUnavailable, .min_detail = 1, .max_detail = kMaxKeptRefusal});
    }
};

template <>
struct Declaration<ProbeRequest> {
    static constexpr std::string_view kType = "probe_request";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& request)
    {
        auto& [reason] = request;
        fields.text("reason", reason, {.min_length = 1, .max_length = kMaxReason});
    }
};

template <>
struct Declaration<MatchLibrary> {
    static constexpr std::string_view kType = "match_library";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& library)
    {
        auto& [digest, operators] = library;
        fields.text("digest", digest, {.min_length = 1, .max_length = kMaxDigestLength});
        fields.json_array("operators", operators, kMaxLibraryOperators);
    }
};

template <>
struct Declaration<Ack> {
    static constexpr std::string_view kType = "ack";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& ack)
    {
        auto& [of, error] = ack;
        fields.id("of", of);
        // Only two classes matter to a sender: its message was wrong, or anything else.
        fields.error_if_any("error", error,
                            {.known = Errc::kInvalid, .others = Errc::kInternal, .min_detail = 0, .max_detail = 4000});
    }
};

} // namespace fathom::link
