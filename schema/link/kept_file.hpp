#pragma once

#include "core/base/json_reader.hpp"
#include "schema/link/messages.hpp"

// Internal to schema/link: the bodies of the two messages that bring the bytes of a kept file.
namespace fathom::link {

Json to_json(const KeptFileQuery& query);
Json to_json(const KeptFilePiece& piece);

/// Each notes with the reader, or in `errors`, what is wrong.
KeptFileQuery read_kept_file_query(ObjectReader& reader);
KeptFilePiece read_kept_file_piece(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::link
