#pragma once

#include "core/net/task_group.hpp"
#include "server/operators/operator_changes.hpp"
#include "server/operators/operators_store.hpp"
#include "server/ports/library_source.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace fathom::server {

/// The library of probe operators (M2): filled from the manifests that come with the program, changed by experts,
/// read by everyone. Thread-safe. `database` must outlive it.
class OperatorsService final : public LibrarySource {
  public:
    explicit OperatorsService(Database& database);
    /// @param runs  ends runs of uploaded versions that are withdrawn; must outlive it. Without it nobody ends them.
    OperatorsService(Database& database, ProbeRunTerminator& runs);

    /// Adds the manifests of this release that the library does not have yet (add_release()), then reads the
    /// library. Blocks; call at start.
    Result<void> seed(std::vector<OperatorManifest> manifests);

    /// From here on versions come from the library of another fathomd (LibraryFollower), and nobody adds any here.
    /// Before requests come.
    /// @param url  of the other, for people.
    void copy_from(std::string url) { copied_from_ = std::move(url); }

    /// The library as last read; empty before seed().
    OperatorLibraryPointer library() const;
    std::shared_ptr<const link::MatchLibrary> match_library() const override;
    /// Called on some thread when match_library() has changed. To be set before that can happen.
    std::function<void()> on_match_library;

    /// Reads the library again when another replica added versions. Before Notifier::start();
    /// `group` must outlive the notifier.
    void subscribe(Notifier& notifier, net::TaskGroup& group, asio::any_io_executor executor);

    asio::awaitable<Result<Page<OperatorRecord>>> list(std::int64_t size, std::string after);
    /// `version` 0: the one in use. @error kNotFound
    asio::awaitable<Result<OperatorRecord>> get(std::string id, std::int64_t version);
    /// Newest first; `after` is a version, 0 for the first page. @error kNotFound
    asio::awaitable<Result<Page<OperatorRecord>>> list_versions(std::string id, std::int64_t size, std::int64_t after);
    /// The signed package of an uploaded version, as JSON text. @error kNotFound
    asio::awaitable<Result<std::string>> package(std::string id, std::int64_t version);

    /// Reads the library again, after a change that others made of it in this process.
    asio::awaitable<void> reload();
    /// @error kConflict  it is copied: versions come from elsewhere
    Result<void> check_is_own() const;

    // Changes; library() knows of them when they return. Errors as in operator_changes.hpp. Of a library that is copied
    // only withdrawing is possible here: what harms must end at once, whoever is away.

    asio::awaitable<Result<OperatorRecord>> add(Caller caller, OperatorOrder order);
    asio::awaitable<Result<std::optional<OperatorRecord>>> change(Caller caller, std::string id, OperatorOrder order,
                                                                  OperatorVersionRule rule);
    asio::awaitable<Result<void>> withdraw(Caller caller, std::string id, std::int64_t version);

  private:
    void replace(OperatorLibrary library, std::uint64_t read);
    std::uint64_t start_read();

    Database* database_;
    mutable std::mutex mutex_;
    OperatorLibraryPointer library_;
    std::shared_ptr<const link::MatchLibrary> match_library_;
    std::uint64_t started_reads_ = 0; ///< numbers the reads, so that a slow old one does not replace a newer
    std::uint64_t current_read_ = 0;
    ProbeRunTerminator* runs_ = nullptr;
    std::string copied_from_; ///< empty: this library is its own
};

} // namespace fathom::server
