#include "server/centers/center_questions.hpp"

#include "core/net/task_group.hpp"
#include "server/store/column.hpp"
#include "server/store/notifier.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Questions are rare, and most answers are there at the second or third look: looking costs less than one more
/// channel with its list of waiters.
constexpr auto kFirstLook = 20ms;
constexpr auto kMaxPause = 250ms;

// Rows of a replica that stopped while it waited.
constexpr const char* kRemoveOld = "DELETE FROM center_question WHERE expires_at < now() - interval '1 minute'";

constexpr const char* kSelectCenters = R"sql(
    SELECT c.id, c.name,
           CASE WHEN c.revoked_at IS NOT NULL THEN 'the center is revoked'
                WHEN c.drained THEN concat_ws(': ', 'the center is drained', nullif(c.drain_reason, ''))
                WHEN c.state = 'enrolled' THEN 'the center has never connected'
                WHEN c.state <> 'online' THEN 'the center is not connected: ' || c.state
                ELSE '' END AS no_answer
    FROM center c
    WHERE (cardinality($1::text[]) = 0 OR c.id = ANY ($1::text[]) OR c.name = ANY ($1::text[]))
      AND EXISTS (SELECT 1 FROM unit_type u WHERE u.center_id = c.id AND u.active)
    ORDER BY c.name)sql";

constexpr const char* kInsertQuestion = R"sql(
    INSERT INTO center_question (id, center_id, operators, expires_at)
    VALUES ($1, $2, $3::jsonb, now() + $4 * interval '1 second'))sql";

constexpr const char* kCountOpen = R"sql(
    SELECT count(*) FROM center_question
    WHERE id = ANY ($1::text[]) AND answer IS NULL AND refusal = '')sql";

constexpr const char* kTakeAnswers = R"sql(
    DELETE FROM center_question WHERE id = ANY ($1::text[]) RETURNING id, answer::text AS answer, refusal)sql";

constexpr const char* kSelectOpen = R"sql(
    SELECT id, operators FROM center_question
    WHERE center_id = $1 AND answer IS NULL AND refusal = '' AND expires_at > now() ORDER BY id LIMIT 100)sql";

constexpr const char* kStoreAnswer = R"sql(
    UPDATE center_question SET answer = $3::jsonb
    WHERE id = $1 AND center_id = $2 AND answer IS NULL AND refusal = '')sql";

constexpr const char* kStoreRefusal = R"sql(
    UPDATE center_question SET refusal = $3
    WHERE id = $1 AND center_id = $2 AND answer IS NULL AND refusal = '')sql";

Json needs_json(const std::vector<OperatorNeed>& needs)
{
    Json json = Json::array();
    for (const OperatorNeed& need : needs)
        json.push_back({{"id", need.id}, {"uploaded", need.is_uploaded}});
    return json;
}

/// A center that is asked, with its question; without one it has its reason to be silent.
struct Asked {
    CenterAnswer answer;
    std::string question;
};

std::vector<Asked> ask_in(pqxx::work& transaction, const std::vector<std::string>& centers,
                          const std::vector<OperatorNeed>& operators, std::chrono::seconds wait)
{
    transaction.exec0(kRemoveOld);
    std::vector<Asked> asked;
    for (const pqxx::row& row : transaction.exec_params(kSelectCenters, sql_array(centers))) {
        Asked one;
        one.answer.center_id = {row["id"].as<std::string>()};
        one.answer.center = row["name"].as<std::string>();
        one.answer.no_answer = row["no_answer"].as<std::string>();
        if (one.answer.no_answer.empty()) {
            one.question = MessageId::make().value;
            transaction.exec_params0(kInsertQuestion, one.question, one.answer.center_id.value,
                                     needs_json(operators).dump(), wait.count());
            notify(transaction, "question", one.answer.center_id.value);
        }
        asked.push_back(std::move(one));
    }
    return asked;
}

std::vector<std::string> questions_of(const std::vector<Asked>& asked)
{
    std::vector<std::string> ids;
    for (const Asked& one : asked) {
        if (!one.question.empty()) ids.push_back(one.question);
    }
    return ids;
}

/// Written by store_answer(), so it reads.
void read_answer(const Json& json, CenterAnswer& answer)
{
    for (const Json& type : json.at("able"))
        answer.able.push_back({type.at("name").get<std::string>(), type.at("unit_count").get<std::int64_t>(),
                               type.at("free_count").get<std::int64_t>()});
    for (const Json& type : json.at("unable"))
        answer.unable.push_back({type.at("name").get<std::string>(), type.at("reason").get<std::string>()});
}

void take_answers(pqxx::work& transaction, std::vector<Asked>& asked, std::chrono::seconds wait)
{
    for (const pqxx::row& row : transaction.exec_params(kTakeAnswers, sql_array(questions_of(asked)))) {
        const auto id = row["id"].as<std::string>();
        const auto one = std::find_if(asked.begin(), asked.end(), [&](const Asked& a) { return a.question == id; });
        if (one == asked.end()) continue;
        if (!row["answer"].is_null())
            read_answer(to_json_value(row["answer"]), one->answer);
        else if (const auto refusal = row["refusal"].as<std::string>(); !refusal.empty())
            one->answer.no_answer = refusal;
        else
            one->answer.no_answer = "it did not answer within " + std::to_string(wait.count()) + " s";
    }
}

} // namespace

asio::awaitable<Result<std::vector<CenterAnswer>>>
CenterQuestions::ask(std::vector<std::string> centers, std::vector<OperatorNeed> operators, std::chrono::seconds wait)
{
    auto begin = [&](pqxx::work& transaction) -> Result<std::vector<Asked>> {
        return ask_in(transaction, centers, operators, wait);
    };
    Result<std::vector<Asked>> asked = co_await database_->run(std::move(begin));
    if (!asked) co_return asked.error();
    const std::string questions = sql_array(questions_of(*asked));
    const auto until = std::chrono::steady_clock::now() + wait;
    std::chrono::milliseconds pause = kFirstLook;
    bool is_open = questions != "{}";
    while (is_open && std::chrono::steady_clock::now() < until) {
        co_await net::TaskGroup::sleep(pause);
        pause = std::min<std::chrono::milliseconds>(2 * pause, kMaxPause);
        auto look = [&](pqxx::work& transaction) -> Result<std::int64_t> {
            return transaction.exec_params1(kCountOpen, questions)[0].as<std::int64_t>();
        };
        const Result<std::int64_t> open = co_await database_->run(std::move(look));
        if (!open) co_return open.error();
        is_open = *open > 0;
    }
    auto finish = [&](pqxx::work& transaction) -> Result<void> {
        take_answers(transaction, *asked, wait);
        return {};
    };
    const Result<void> taken = co_await database_->run(std::move(finish));
    if (!taken) co_return taken.error();
    std::vector<CenterAnswer> answers;
    for (Asked& one : *asked)
        answers.push_back(std::move(one.answer));
    co_return answers;
}

std::vector<link::UnitTypesQuery> select_open_questions(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<link::UnitTypesQuery> questions;
    for (const pqxx::row& row : transaction.exec_params(kSelectOpen, center.value)) {
        link::UnitTypesQuery query;
        query.query_id = {row["id"].as<std::string>()};
        for (const Json& need : to_json_value(row["operators"]))
            query.operators.push_back({need.at("id").get<std::string>(), need.at("uploaded").get<bool>()});
        questions.push_back(std::move(query));
    }
    return questions;
}

void store_answer(pqxx::transaction_base& transaction, const CenterId& center, const link::UnitTypesAnswer& answer)
{
    Json able = Json::array();
    for (const link::AbleUnitType& type : answer.able)
        able.push_back({{"name", type.name}, {"unit_count", type.unit_count}, {"free_count", type.free_count}});
    Json unable = Json::array();
    for (const link::UnableUnitType& type : answer.unable)
        unable.push_back({{"name", type.name}, {"reason", type.reason}});
    const Json json{{"able", std::move(able)}, {"unable", std::move(unable)}};
    transaction.exec_params0(kStoreAnswer, answer.query_id.value, center.value, json.dump());
}

void store_refusal(pqxx::transaction_base& transaction, const CenterId& center, const MessageId& question,
                   const std::string& reason)
{
    transaction.exec_params0(kStoreRefusal, question.value, center.value, reason);
}

} // namespace fathom::server
