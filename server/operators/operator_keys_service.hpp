#pragma once

#include "server/api/caller.hpp"
#include "server/operators/operator_keys_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// A key to trust; `id` is made of the key.
struct OperatorKeyOrder {
    std::string name;
    std::string center{}; ///< id or name of the center whose expert has it; empty: of the network
    std::string public_key_pem;
    PublicKey key;
};

/// The keys whose holders may upload operators. Thread-safe. `database` must outlive it.
class OperatorKeysService {
  public:
    explicit OperatorKeysService(Database& database) : database_(&database) {}

    /// @error kInvalid   there is no such center.
    /// @error kConflict  the key is there already, or was revoked.
    asio::awaitable<Result<OperatorKeyRecord>> add(Caller caller, OperatorKeyOrder order);
    asio::awaitable<Result<Page<OperatorKeyRecord>>> list(std::int64_t size, std::string after);
    /// From then on packages that it signed are refused; what was uploaded stays. @error kNotFound
    asio::awaitable<Result<OperatorKeyRecord>> revoke(Caller caller, std::string id);

  private:
    Database* database_;
};

} // namespace fathom::server
