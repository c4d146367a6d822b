#pragma once

#include "core/base/id.hpp"

#include <string>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// A message of a center that could not be carried out.
struct DeadLetter {
    std::string attempt_id; ///< that it is about; empty: none
    std::string message;    ///< as it came
    std::string error;
};

/// Keeps it, cut where it is very long; of each center the newest thousand. Blocks; pqxx's exceptions pass through.
void insert_dead_letter(pqxx::transaction_base& transaction, const CenterId& center, const DeadLetter& letter);

} // namespace fathom::server
