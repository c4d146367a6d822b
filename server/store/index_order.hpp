#pragma once

#include <pqxx/transaction_base>

namespace fathom::server {

/// Makes the following statements of this transaction walk an index in its order instead of collecting rows and
/// sorting them. For `ORDER BY key LIMIT n` on tables that grow fast: until they are analyzed PostgreSQL believes
/// them small, and would read and sort a hundred thousand rows for a page of fifty.
inline void prefer_index_order(pqxx::transaction_base& transaction)
{
    transaction.exec("SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off");
}

/// Takes that back before the transaction goes on with other statements.
inline void prefer_any_plan(pqxx::transaction_base& transaction)
{
    transaction.exec("SET LOCAL enable_bitmapscan = on; SET LOCAL enable_sort = on");
}

} // namespace fathom::server
