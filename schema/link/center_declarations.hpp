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
        fields.text("agent_version", hello.agent_version, {.max_length = 64});
        fields.catalog(hello.catalog);
        fields.items("inventory", hello.inventory, 1'000'000, [](auto& of, auto& item) {
            of.id("attempt_id", item.attempt_id);
            of.text("state", item.state, {.one_of = {"running", "ended"}});
        });
        fields.optional_text("library_digest", hello.library_digest, {.max_length = kMaxDigestLength});
        fields.optional_strings("authorities", hello.authorities, kMaxAuthorities, {.max_length = kMaxDigestLength});
        fields.text_if_any("host_id", hello.host_id, {.max_length = kMaxDigestLength});
    }
};

template <>
struct Declaration<Welcome> {
    static constexpr std::string_view kType = "welcome";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& welcome)
    {
        fields.text("server_version", welcome.server_version, {.max_length = 64});
        fields.text("center_id", welcome.center_id, {.max_length = 64});
        fields.text("center_name", welcome.center_name, {.max_length = 128});
        fields.integer("heartbeat_s", welcome.heartbeat_s, 1, 3600);
        fields.ids("stop", welcome.stop);
        fields.ids("forget", welcome.forget);
        fields.integer_if_any("balance_steps", welcome.balance_steps, kMaxBytes);
        if (Fields::kReads || welcome.balance_steps > 0)
            fields.number_or_zero("balance_pause_s", welcome.balance_pause_s, 3600);
        fields.flag_if_set("takes_queues", welcome.takes_queues);
    }
};

template <>
struct Declaration<Heartbeat> {
    static constexpr std::string_view kType = "heartbeat";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& heartbeat)
    {
        constexpr std::int64_t kMaxCount = 1LL << 40U;
        fields.number("load_1min", heartbeat.load_1min, 0, 1e9);
        fields.integer("running_attempts", heartbeat.running_attempts, 0, kMaxCount);
        fields.integer("spooled_messages", heartbeat.spooled_messages, 0, kMaxCount);
    }
};

template <>
struct Declaration<RenewCertificate> {
    static constexpr std::string_view kType = "renew_certificate";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& renew)
    {
        fields.text("request_pem", renew.request_pem, {.min_length = 1, .max_length = 16384});
    }
};

template <>
struct Declaration<RenewedCertificate> {
    static constexpr std::string_view kType = "renewed_certificate";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& renewed)
    {
        fields.text("certificate_pem", renewed.certificate_pem, {.min_length = 1, .max_length = 65536});
    }
};

template <>
struct Declaration<TrustedAuthorities> {
    static constexpr std::string_view kType = "trusted_authorities";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& trusted)
    {
        constexpr double kMaxRenewal_s = 30 * 86400; // over how long certificates may be renewed
        fields.text("certificates_pem", trusted.certificates_pem,
                    {.min_length = 1, .max_length = kMaxAuthoritiesBytes});
        fields.text("signer_sha256", trusted.signer_sha256, {.min_length = 1, .max_length = kMaxDigestLength});
        fields.number("renew_within_s", trusted.renew_within_s, 0, kMaxRenewal_s);
    }
};

template <>
struct Declaration<CatalogChanged> {
    static constexpr std::string_view kType = "catalog_changed";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& changed)
    {
        fields.catalog(changed.catalog);
    }
};

template <>
struct Declaration<UnitTypesQuery> {
    static constexpr std::string_view kType = "unit_types_query";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& query)
    {
        fields.id("query_id", query.query_id);
        fields.items("operators", query.operators, kMaxOperators, DeclareNeed{});
        fields.require(!query.operators.empty(), "operators", "must name at least one");
    }
};

template <>
struct Declaration<UnitTypesAnswer> {
    static constexpr std::string_view kType = "unit_types_answer";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& answer)
    {
        fields.id("query_id", answer.query_id);
        fields.items("able", answer.able, kMaxUnitTypes, [](auto& of, auto& type) {
            of.text("name", type.name, name_rule());
            of.integer("unit_count", type.unit_count, 0, 1'000'000);
            of.integer("free_count", type.free_count, 0, 1'000'000);
        });
        fields.items("unable", answer.unable, kMaxUnitTypes, [](auto& of, auto& type) {
            of.text("name", type.name, name_rule());
            of.text("reason", type.reason, {.max_length = kMaxReason});
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
        fields.id("query_id", query.query_id);
        fields.text("sha256", query.sha256, {.max_length = kSha256Digits});
        fields.require(is_sha256(query.sha256), "sha256", "must be 64 lower-case hex digits");
        fields.integer("offset_bytes", query.offset_bytes, 0, kMaxBytes);
        fields.integer("most_bytes", query.most_bytes, 1, kMaxKeptPieceBytes);
    }
};

template <>
struct Declaration<KeptFilePiece> {
    static constexpr std::string_view kType = "kept_file_piece";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& piece)
    {
        fields.id("query_id", piece.query_id);
        fields.bytes("data_base64", piece.data, kMaxKeptPieceBytes);
        // Only two classes matter to who asked: there is no copy any more, or anything else.
        fields.error_if_any(
            "refusal", piece.refusal,
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
        fields.text("reason", request.reason, {.min_length = 1, .max_length = kMaxReason});
    }
};

template <>
struct Declaration<MatchLibrary> {
    static constexpr std::string_view kType = "match_library";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& library)
    {
        fields.text("digest", library.digest, {.min_length = 1, .max_length = kMaxDigestLength});
        fields.json_array("operators", library.operators, kMaxLibraryOperators);
    }
};

template <>
struct Declaration<Ack> {
    static constexpr std::string_view kType = "ack";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& ack)
    {
        fields.id("of", ack.of);
        // Only two classes matter to a sender: its message was wrong, or anything else.
        fields.error_if_any("error", ack.error,
                            {.known = Errc::kInvalid, .others = Errc::kInternal, .min_detail = 0, .max_detail = 4000});
    }
};

} // namespace fathom::link
