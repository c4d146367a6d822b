#pragma once

#include <pqxx/transaction_base>

namespace fathom::server {

/// The COMMIT of this transaction will not wait for the disk. A crash of the database may undo it as a whole, unless
/// another transaction that did wait has committed after it. For what nobody outside may rely on before such a one, and
/// is done again where it was undone.
inline void commit_without_wait(pqxx::transaction_base& transaction)
{
    transaction.exec("SET LOCAL synchronous_commit = off");
}

} // namespace fathom::server
