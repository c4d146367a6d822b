#pragma once

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/net/http.hpp"
#include "server/api/paced_stream.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace fathom::server {

struct ExportLimits {
    std::size_t all = 8; ///< at this server
    std::size_t of_token = 2;
    std::size_t of_project = 2; ///< of all its leads together
    /// A token or project has more than one only while fewer than these are under way.
    std::size_t for_seconds = 4;
    /// Whoever reads more slowly has its export ended.
    double min_bytes_per_s = 64.0 * 1024;
    /// The same while all places are taken and another is asked for.
    double min_contended_bytes_per_s = 1024.0 * 1024;
};

/// For whom an export is.
struct ExportReader {
    std::string token_id; ///< of the account, where a person asks
    std::string project;  ///< which it asks as a lead of; empty: it may read all
};

class ExportSlot;

/// Who may have an export under way. Others find a place however slowly some read: an export that is read more slowly
/// than the least rate is ended, and while all places are taken the slowest of those below the contended rate gives its
/// place to the next who asks. Thread-safe.
class ExportSlots {
  public:
    ExportSlots(ExportLimits limits, Metrics& metrics);

    /// A place, until the last copy of it is gone.
    /// @error kTooMany  the token, the project or the server has as many exports as it may; the detail says which.
    Result<std::shared_ptr<ExportSlot>> take(const ExportReader& reader);

  private:
    friend class ExportSlot;
    struct State;
    std::shared_ptr<State> state_; ///< places may outlive this
};

/// Of one export. Thread-safe.
class ExportSlot {
  public:
    ExportSlot(std::shared_ptr<ExportSlots::State> state, ExportReader reader);
    ~ExportSlot();
    ExportSlot(const ExportSlot&) = delete;
    ExportSlot& operator=(const ExportSlot&) = delete;

    /// Notes what its reader has taken.
    /// @error kUnavailable  the export is to end: it is read too slowly, or has given its place to another. Counted,
    /// for
    ///                      the first time, by `fathom_exports_cut_off_total`.
    Result<void> note(std::size_t bytes, std::chrono::steady_clock::duration took);

  private:
    friend struct ExportSlots::State;
    const std::shared_ptr<ExportSlots::State> state_;
    const ExportReader reader_;
    // With the mutex of the state held.
    ReaderPace pace_;
    bool has_given_way_ = false;
    std::string cut_off_; ///< why; empty: it is not
};

/// The stream of an export, cut off when its place says so.
/// @param now  the time, for tests.
std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)>
pace_stream(std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)> stream,
            std::shared_ptr<ExportSlot> place,
            std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now);

} // namespace fathom::server
