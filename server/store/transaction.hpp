#pragma once

// pqxx::work is an alias of a class template in libpqxx 6, so headers that name it cannot forward-declare it.
#include <pqxx/transaction>
