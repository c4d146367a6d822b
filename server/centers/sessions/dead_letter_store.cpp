#include "server/centers/sessions/dead_letter_store.hpp"

#include "core/base/utf8_prefix.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxMessageLength = 256UL << 10U;
constexpr int kMaxOfACenter = 1000;

constexpr const char* kInsertLetter = R"sql(
    INSERT INTO agent_dead_letter (center_id, attempt_id, message, error) VALUES ($1, $2, $3, $4))sql";

constexpr const char* kDropOldLetters = R"sql(
    DELETE FROM agent_dead_letter WHERE center_id = $1 AND id <= (
        SELECT id FROM agent_dead_letter WHERE center_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1))sql";

} // namespace

void insert_dead_letter(pqxx::transaction_base& transaction, const CenterId& center, const DeadLetter& letter)
{
    std::string message(utf8_prefix(letter.message, kMaxMessageLength));
    std::erase(message, '\0');
    transaction.exec_params0(kInsertLetter, center.value, letter.attempt_id, message, letter.error);
    transaction.exec_params0(kDropOldLetters, center.value, kMaxOfACenter);
}

} // namespace fathom::server
