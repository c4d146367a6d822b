#pragma once

#include "server/store/column.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/transaction_base>

namespace fathom::server {

/// When the transaction began, by the database's clock: what times that it wrote (`DEFAULT now()`) are compared with.
inline Timestamp database_now(pqxx::transaction_base& transaction)
{
    return to_timestamp(transaction.exec1("SELECT now()")[0]);
}

} // namespace fathom::server
