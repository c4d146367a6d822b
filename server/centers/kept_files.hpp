#pragma once

#include "core/base/id.hpp"
#include "schema/link/messages.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// A part of a file that a center keeps a copy of.
struct KeptRange {
    CenterId center;
    std::string sha256; ///< of the whole file, 64 lower-case hex digits
    std::int64_t offset_bytes{};
    std::int64_t size_bytes{}; ///< 1 to KeptFiles::kMaxRangeBytes
};

/// Reads files that centers keep copies of, through the sessions of their agents. The agent may be connected to another
/// replica: each piece is a row, a wake-up "kept_file" brings it to the session, and the bytes come into the row.
/// Whoever reads asks for the next range when it has use for it, so that nothing gathers anywhere. Whether somebody may
/// read the file is the caller's to know. Thread-safe.
class KeptFiles {
  public:
    static constexpr std::int64_t kMaxRangeBytes = 4 * static_cast<std::int64_t>(link::kMaxKeptPieceBytes);

    explicit KeptFiles(Database& database) : database_(&database) {}

    /// The bytes of a range, all of them.
    /// @error kNotFound     the center keeps no such copy, or none of that length.
    /// @error kInfeasible   its agent is too old to read one.
    /// @error kUnavailable  it is not connected, or could not read it now; the detail says which.
    /// @error kDeadline     it did not answer in time.
    asio::awaitable<Result<std::string>> read(KeptRange range, std::chrono::seconds wait);

  private:
    Database* database_;
};

// The session's side. These take the caller's transaction, block, and let pqxx's exceptions through.

/// Pieces that are wanted of a center and have not come, the oldest first.
std::vector<link::KeptFileQuery> select_open_pieces(pqxx::transaction_base& transaction, const CenterId& center);
/// Keeps a piece for who waits for it; one that nobody waits for, or that another center sent, changes nothing.
void store_piece(pqxx::transaction_base& transaction, const CenterId& center, const link::KeptFilePiece& piece);

} // namespace fathom::server
