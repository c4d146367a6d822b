#include "server/probing/findings/verification_store.hpp"

#include "core/base/utf8_prefix.hpp"
#include "server/operators/operator_attachments.hpp"
#include "server/store/column.hpp"
#include "server/store/notifier.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kMarkPending = R"sql(
    UPDATE probe_run SET verification = 'pending'
    WHERE id = $1 AND verification = 'none'
      AND ($3 = 'true' OR NOT EXISTS (SELECT 1 FROM probe_run other WHERE other.unit_type_id = $2 AND other.id <> $1
                                      AND other.verification IN ('pending', 'right', 'wrong'))))sql";

constexpr const char* kSelectOthersOfOrder = R"sql(
    SELECT id, result FROM probe_run
    WHERE order_id = $1 AND order_id <> '' AND id <> $2 AND state = 'succeeded'
      AND document -> 'operators' = (SELECT document -> 'operators' FROM probe_run WHERE id = $2)
    ORDER BY id DESC LIMIT 8)sql";

constexpr const char* kMarkAll =
    "UPDATE probe_run SET verification = 'pending' WHERE id = ANY ($1::text[]) AND verification = 'none'";

// verified_at is the lease while it is pending.
constexpr const char* kClaim = R"sql(
    UPDATE probe_run r SET verified_at = now()
    WHERE id = (SELECT id FROM probe_run
                WHERE verification = 'pending' AND (verified_at IS NULL OR verified_at < now() - interval '10 minutes')
                ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, center_id, unit_type_id, document, result)sql";

constexpr const char* kConclude = R"sql(
    UPDATE probe_run SET verification = $2, verification_detail = $3, verified_at = now()
    WHERE id = $1 AND verification = 'pending')sql";

constexpr const char* kSelectUnverified = R"sql(
    SELECT id FROM probe_run
    WHERE unit_type_id = $1 AND state = 'succeeded' AND id <> $2 AND verification IN ('none', 'pending', 'impossible')
      AND ended_at > coalesce((SELECT max(ended_at) FROM probe_run
                               WHERE unit_type_id = $1 AND verification = 'right'), '-infinity'))sql";

constexpr const char* kVoid = R"sql(
    UPDATE measurement SET void_reason = $2 WHERE probe_run_id = ANY ($1::text[]) AND void_reason = '')sql";

constexpr const char* kVoidCopies = R"sql(
    UPDATE copy_measurement SET void_reason = $2 WHERE probe_run_id = ANY ($1::text[]) AND void_reason = '')sql";

} // namespace

void choose_verification(pqxx::transaction_base& transaction, const EndingRun& run, const ProbeResult& result,
                         bool is_drawn)
{
    transaction.exec_params(kMarkPending, run.id.value, run.unit_type_id.value, is_drawn ? "true" : "false");
    std::vector<std::string> differing;
    for (const pqxx::row& row : transaction.exec_params(kSelectOthersOfOrder, run.order_id, run.id.value)) {
        const Result<ProbeResult> other = parse_probe_result(to_json_value(row["result"]));
        if (other && !difference_within_order(result, *other).empty()) differing.push_back(row["id"].as<std::string>());
    }
    if (differing.empty()) return;
    differing.push_back(run.id.value);
    transaction.exec_params(kMarkAll, sql_array(differing));
}

std::optional<VerificationOrder> claim_verification(pqxx::transaction_base& transaction)
{
    const pqxx::result rows = transaction.exec(kClaim);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    VerificationOrder order;
    order.place = {
        {row["center_id"].as<std::string>()}, {row["unit_type_id"].as<std::string>()}, {row["id"].as<std::string>()}};
    Result<ProbeTask> document = parse_probe_task(to_json_value(row["document"]));
    Result<ProbeResult> claimed = parse_probe_result(to_json_value(row["result"]));
    if (!document || !claimed) {
        order.obstacle = "the run does not say what was sent";
        return order;
    }
    order.document = std::move(*document);
    order.claimed = std::move(*claimed);
    const Result<OperatorAttachments> attachments = operator_attachments(transaction, order.document.operators);
    if (attachments)
        order.document.manifests = attachments->manifests;
    else
        order.obstacle = attachments.error().detail;
    return order;
}

void conclude_verification(pqxx::work& transaction, const VerificationOrder& order, const VerificationVerdict& verdict)
{
    constexpr std::size_t kMaxDetailLength = 1000;
    const std::string detail(utf8_prefix(verdict.detail, kMaxDetailLength));
    const auto updated =
        transaction.exec_params(kConclude, order.place.run.value, std::string(to_string(verdict.outcome)), detail);
    if (updated.affected_rows() == 0 || verdict.outcome != VerificationOutcome::kWrong) return;
    const Finding finding{FindingKind::kChecksum, "computed by the metascheduler itself: " + detail,
                          Json{{"seed", order.document.seed}}};
    insert_finding(transaction, order.place, finding);
    void_measurements(transaction, order.place.center_id, {order.place.run.value}, "it was not computed: " + detail);
    std::vector<std::string> unverified;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectUnverified, order.place.unit_type_id.value, order.place.run.value))
        unverified.push_back(row[0].as<std::string>());
    void_measurements(transaction, order.place.center_id, unverified,
                      "nobody has verified it, and run " + order.place.run.value + " was not computed");
}

void void_measurements(pqxx::work& transaction, const CenterId& center, const std::vector<std::string>& runs,
                       const std::string& reason)
{
    if (runs.empty()) return;
    transaction.exec_params(kVoid, sql_array(runs), reason);
    transaction.exec_params(kVoidCopies, sql_array(runs), reason);
    notify(transaction, "catalog", center.value);
}

} // namespace fathom::server
