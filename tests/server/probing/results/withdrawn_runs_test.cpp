#include "server/operators/operator_attachments.hpp"
#include "server/operators/operator_keys_service.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/orders/probing_service.hpp"
#include "server/probing/results/probe_results.hpp"
#include "server/probing/results/withdrawn_runs.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OperatorUse use_of_version(const std::string& id, std::int64_t version)
{
    OperatorUse use;
    use.id = id;
    use.version = version;
    return use;
}

/// Versions 1 and 2 of the upload `lu`, the built-in `op1`, and a center that runs both.
class WithdrawnRunsTest : public testing::Test {
  protected:
    WithdrawnRunsTest()
    {
        operators_.seed({test::simple_operator("op1")}).value();
        OperatorKeyOrder key;
        key.name = "ada";
        key.public_key_pem = keys_.public_pem;
        key.key = parse_public_keys(keys_.public_pem).value().front();
        io_.run(key_service_.add(caller_, key)).value();
        upload(1);
        upload(2);
        Catalog catalog;
        catalog.unit_types = {test::unit_type("u1", 4, {"op1"})};
        catalog.unit_types[0].facts = {{"accepts_uploads", true}};
        test::add_center(store_, "alpha", catalog);
    }
    ~WithdrawnRunsTest() override { store_.database().stop(); }

    void upload(std::int64_t version)
    {
        OperatorOrder order;
        order.manifest = test::uploaded_operator("lu", version);
        order.package = sign_operator(order.manifest, test::tiny_object(), keys_.private_pem).value();
        io_.run(operators_.add(caller_, order)).value();
    }
    ProbeRunRecord queue(std::vector<OperatorUse> operators)
    {
        RunOrder order;
        order.operators = std::move(operators);
        return io_.run(probing_.create_runs(caller_, order)).value().runs.front();
    }
    /// As an agent has the run that has acknowledged its order.
    void dispatch(const ProbeRunRecord& run) const
    {
        store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, state, "
                   "dispatched_at) VALUES ('" +
                   AttemptId::make().value + "', '" + run.job_id.value + "', 1, '" + run.center_id.value + "', '" +
                   run.unit_type_id.value + "', 1, 'rep', 'dispatched', now())");
        store_.sql("UPDATE job SET state = 'dispatched' WHERE id = '" + run.job_id.value + "'");
    }
    void withdraw(const std::string& id, std::int64_t version)
    {
        ASSERT_TRUE(io_.run(operators_.withdraw(caller_, id, version)));
    }
    std::string state_of(const ProbeRunRecord& run) const
    {
        return store_.sql("SELECT concat_ws(': ', state, nullif(error, '')) FROM probe_run WHERE id = '" +
                          run.id.value + "'");
    }

    test::TestStore store_;
    fathom::test::TestIo io_;
    test::FakeJobWriter writer_;
    WithdrawnRuns withdrawn_{writer_};
    OperatorsService operators_{store_.database(), withdrawn_};
    OperatorKeysService key_service_{store_.database()};
    test::FakeJobWork jobs_;
    ProbingService probing_{store_.database(), operators_, writer_, jobs_};
    ProbePlanning planning_{operators_, writer_};
    Metrics metrics_;
    ProbeResults results_{operators_, writer_, metrics_, {}};
    const Caller caller_{"tok_expert", "req_1"};
    const KeyPair keys_ = new_key_pair().value();
};

TEST_F(WithdrawnRunsTest, AQueuedRunIsCancelledAndGivesItsPartOfTheBudgetBack)
{
    const ProbeRunRecord run = queue({use_of_version("op1", 1), use_of_version("lu", 1)});
    ASSERT_EQ(store_.sql("SELECT reserved_s > 0 FROM probe_budget"), "t");

    withdraw("lu", 1);

    EXPECT_EQ(state_of(run), "cancelled: operator lu version 1 was withdrawn");
    EXPECT_EQ(store_.sql("SELECT ended_at IS NOT NULL FROM probe_run"), "t");
    EXPECT_EQ(store_.sql("SELECT reserved_s FROM probe_budget"), "0");
    EXPECT_THAT(writer_.stopped, ElementsAre(run.job_id));
    EXPECT_EQ(store_.sql("SELECT detail ->> 'ended_probe_runs' FROM audit_log WHERE action = 'operator.withdraw'"),
              "1");
}

TEST_F(WithdrawnRunsTest, ADispatchedRunIsCancelledAndItsResultIsNoMeasurement)
{
    const ProbeRunRecord run = queue({use_of_version("lu", 1)});
    dispatch(run);

    withdraw("lu", 1);

    EXPECT_EQ(state_of(run), "cancelled: operator lu version 1 was withdrawn");
    EXPECT_THAT(writer_.stopped, ElementsAre(run.job_id));
    const Json document = io_.run(probing_.get_run(run.id.value)).value().document;
    EndedProbeJob ended; // before its center was told
    ended.job = run.job_id;
    ended.succeeded = true;
    ended.outcome = AttemptOutcome::kExited;
    ended.stdout_text = to_json(test::right_result(parse_probe_task(document).value())).dump();
    store_.run([&](pqxx::work& transaction) { return results_.probe_job_ended(transaction, ended); }).value();
    EXPECT_THAT(state_of(run), HasSubstr("cancelled: "));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "0");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_finding"), "0") << "the center did nothing wrong";
}

TEST_F(WithdrawnRunsTest, OtherVersionsAndOperatorsAreLeftAlone)
{
    const ProbeRunRecord other_version = queue({use_of_version("lu", 2)});
    const ProbeRunRecord other_operator = queue({use_of_version("op1", 1)});
    dispatch(other_version);

    withdraw("lu", 1);
    withdraw("op1", 1); // built-in code may end

    EXPECT_EQ(state_of(other_version), "queued");
    EXPECT_EQ(state_of(other_operator), "queued");
    EXPECT_THAT(writer_.stopped, IsEmpty());
}

TEST_F(WithdrawnRunsTest, AJobThatWaitsForAPretestGoesOnAndIsToldWhy)
{
    const UnitTypeId unit_type{store_.sql("SELECT id FROM unit_type")};
    OperatorUse use = use_of_version("lu", 0);
    use.count = 100;
    const auto progress = [&] {
        return store_.run([&](pqxx::work& transaction) { return planning_.probe_progress(transaction, "solver"); })
            .value();
    };
    const auto request = [&](pqxx::work& transaction) {
        return planning_.request_probes(transaction, "solver", {use}, {unit_type});
    };
    ASSERT_TRUE(store_.run(request).value().is_pretest);
    ASSERT_TRUE(progress().is_pending);

    withdraw("lu", 2); // the newest, which it took

    EXPECT_FALSE(progress().is_pending);
    EXPECT_THAT(progress().refusal, HasSubstr("operator lu version 2 was withdrawn"));
    EXPECT_EQ(store_.sql("SELECT state FROM probe_task"), "draft");
}

TEST_F(WithdrawnRunsTest, AWithdrawalWaitsForRunsThatAreBeingQueued)
{
    const auto queueing = [&](pqxx::work& transaction) -> Result<void> {
        operator_attachments(transaction, {use_of_version("lu", 1)}).value();
        EXPECT_EQ(store_.sql("SELECT version FROM operator WHERE id = 'lu' FOR NO KEY UPDATE SKIP LOCKED"), "2");
        return {};
    };
    store_.run(queueing).value();
}

} // namespace
} // namespace fathom::server
