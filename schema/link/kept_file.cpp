#include "schema/link/kept_file.hpp"

#include "core/base/secret.hpp"
#include "core/base/sha256.hpp"
#include "schema/link/read_fields.hpp"

namespace fathom::link {
namespace {

constexpr std::int64_t kMaxFileBytes = 1LL << 60U;
constexpr std::size_t kMaxCodeLength = 32;

/// Only two classes matter to who asked: there is no copy any more, or anything else.
std::optional<Error> read_kept_file_refusal(ObjectReader& reader, std::vector<FieldError>& errors)
{
    const Json* json = reader.object("refusal");
    if (json == nullptr) return std::nullopt;
    ObjectReader item(*json, "refusal", errors);
    const std::string code = item.required_string("code", {.max_length = kMaxCodeLength});
    const Errc errc = code == to_string(Errc::kNotFound) ? Errc::kNotFound : Errc::kUnavailable;
    return Error{errc, item.required_string("detail", {.min_length = 1, .max_length = kMaxKeptRefusal})};
}

} // namespace

Json to_json(const KeptFileQuery& query)
{
    return {{"query_id", query.query_id.value},
            {"sha256", query.sha256},
            {"offset_bytes", query.offset_bytes},
            {"most_bytes", query.most_bytes}};
}

Json to_json(const KeptFilePiece& piece)
{
    Json json = {{"query_id", piece.query_id.value}, {"data_base64", base64_encode(piece.data)}};
    if (piece.refusal) json["refusal"] = {{"code", to_string(piece.refusal->code)}, {"detail", piece.refusal->detail}};
    return json;
}

KeptFileQuery read_kept_file_query(ObjectReader& reader)
{
    KeptFileQuery query;
    query.query_id = read_id<MessageId>(reader, "query_id");
    query.sha256 = reader.required_string("sha256", {.max_length = kSha256Digits});
    if (!is_sha256(query.sha256)) reader.fail("sha256", "must be 64 lower-case hex digits");
    query.offset_bytes = reader.required_integer("offset_bytes", 0, kMaxFileBytes);
    query.most_bytes = reader.required_integer("most_bytes", 1, kMaxKeptPieceBytes);
    return query;
}

KeptFilePiece read_kept_file_piece(ObjectReader& reader, std::vector<FieldError>& errors)
{
    KeptFilePiece piece;
    piece.query_id = read_id<MessageId>(reader, "query_id");
    Base64Decoded decoded =
        base64_decode(reader.required_string("data_base64", {.max_length = kMaxKeptPieceBytes * 4 / 3 + 8}));
    if (!decoded.ok || decoded.data.size() > kMaxKeptPieceBytes)
        reader.fail("data_base64", "is not base64, or too long");
    piece.data = std::move(decoded.data);
    piece.refusal = read_kept_file_refusal(reader, errors);
    return piece;
}

} // namespace fathom::link
