#pragma once

#include "core/base/id.hpp"
#include "schema/link/messages.hpp"
#include "server/api/token_line.hpp"
#include "server/centers/piece_arrivals.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <memory>
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

class Notifier;

/// Reads files that centers keep copies of, through the sessions of their agents. The agent may be connected to another
/// replica: each piece is a row, a wake-up "kept_file" brings it to the session, the bytes come into the row, and a
/// wake-up "kept_piece" says so. Whoever reads asks for the next range when it has use for it, so that nothing gathers
/// anywhere. Whether somebody may read the file is the caller's to know. Thread-safe.
class KeptFiles {
  public:
    static constexpr std::int64_t kMaxRangeBytes = 4 * static_cast<std::int64_t>(link::kMaxKeptPieceBytes);

    /// @param look_every  how often a reader looks at the database that no wake-up reached
    explicit KeptFiles(Database& database, std::chrono::milliseconds look_every = kLookEvery);
    ~KeptFiles();
    KeptFiles(const KeptFiles&) = delete;
    KeptFiles& operator=(const KeptFiles&) = delete;

    /// Listens to "kept_piece" (a piece has come, or a refusal; payload: its question's id). Before Notifier::start().
    void subscribe(Notifier& notifier);

    /// The bytes of a range, all of them.
    /// @param turns  of who reads: one for each look at the database, none while the center is waited for
    /// @error kNotFound     the center keeps no such copy, or none of that length.
    /// @error kInfeasible   its agent is too old to read one.
    /// @error kUnavailable  it is not connected, or could not read it now; the detail says which.
    /// @error kDeadline     it did not answer in time.
    asio::awaitable<Result<std::string>> read(KeptRange range, std::chrono::seconds wait, TokenTurns turns = {});

  private:
    /// Until there is nothing to wait for any more, `wait` at the longest.
    asio::awaitable<Result<void>> wait_for(std::vector<std::string> asked, PieceArrivals::Wait& arrival,
                                           std::chrono::seconds wait, TokenTurns turns);

    static constexpr std::chrono::milliseconds kLookEvery{1000};

    Database* database_;
    std::chrono::milliseconds look_every_;
    std::shared_ptr<PieceArrivals> arrivals_;
};

// The session's side. These take the caller's transaction, block, and let pqxx's exceptions through.

/// Pieces that are wanted of a center and have not come, the oldest first.
std::vector<link::KeptFileQuery> select_open_pieces(pqxx::transaction_base& transaction, const CenterId& center);
/// Keeps a piece for who waits for it; one that nobody waits for, or that another center sent, changes nothing.
void store_piece(pqxx::transaction_base& transaction, const CenterId& center, const link::KeptFilePiece& piece);

} // namespace fathom::server
