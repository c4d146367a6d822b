#pragma once

#include "core/base/id.hpp"
#include "schema/link/messages.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// What a center said to a question, or why it said nothing.
struct CenterAnswer {
    CenterId center_id;
    std::string center;    ///< its name
    std::string no_answer; ///< not empty: there is no answer; why, for people
    std::vector<link::AbleUnitType> able;
    std::vector<link::UnableUnitType> unable;
};

/// Asks centers which of their unit types can run operators (M13b). The agent of a center may be connected to another
/// replica: a question is a row, a wake-up "question" brings it to the session, and the answer is written into the
/// row. Thread-safe.
class CenterQuestions {
  public:
    explicit CenterQuestions(Database& database) : database_(&database) {}

    /// One answer for each center that offers unit types, or for each named one, ordered by name. Returns when all
    /// that are connected have answered, at `wait` at the latest.
    /// @param centers  ids or names; empty for all. Unknown ones are left out.
    /// @error as Database::run.
    asio::awaitable<Result<std::vector<CenterAnswer>>>
    ask(std::vector<std::string> centers, std::vector<OperatorNeed> operators, std::chrono::seconds wait);

  private:
    Database* database_;
};

// The session's side. These take the caller's transaction, block, and let pqxx's exceptions through.

/// Questions to a center that still wait for its answer.
std::vector<link::UnitTypesQuery> select_open_questions(pqxx::transaction_base& transaction, const CenterId& center);
/// Notes an answer; one that nobody waits for, or that another center gave, changes nothing.
void store_answer(pqxx::transaction_base& transaction, const CenterId& center, const link::UnitTypesAnswer& answer);
/// Notes that the center cannot answer.
void store_refusal(pqxx::transaction_base& transaction, const CenterId& center, const MessageId& question,
                   const std::string& reason);

} // namespace fathom::server
