#pragma once

#include "core/net/task_group.hpp"
#include "server/operators/operators_store.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace fathom::server {

/// The library of probe operators (M2): filled from the manifests that come with the program, read by
/// everyone. Thread-safe. `database` must outlive it.
class OperatorsService {
  public:
    explicit OperatorsService(Database& database);

    /// Adds the manifests that the library does not have yet; one whose content changed becomes the next
    /// version. Nothing is ever removed. Then reads the library. Blocks; call at start.
    Result<void> seed(std::vector<OperatorManifest> manifests);

    /// The library as last read; empty before seed().
    OperatorLibraryPointer library() const;

    /// Reads the library again when another replica added versions. Before Notifier::start();
    /// `group` must outlive the notifier.
    void subscribe(Notifier& notifier, net::TaskGroup& group, asio::any_io_executor executor);

    asio::awaitable<Result<Page<OperatorRecord>>> list(std::int64_t size, std::string after);
    /// `version` 0: the newest. @error kNotFound
    asio::awaitable<Result<OperatorRecord>> get(std::string id, std::int64_t version);

  private:
    asio::awaitable<void> reload();
    void replace(OperatorLibrary library);

    Database* database_;
    mutable std::mutex mutex_;
    OperatorLibraryPointer library_;
};

} // namespace fathom::server
