#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kJob = R"({"id":"job_1","name":"scf","state":"queued","spec":{"command":["true"]}})";
constexpr const char* kSucceeded =
    R"({"id":"job_1","name":"scf","state":"succeeded","exit_code":0,"run_s":12.3,"predicted":{"run_s":11.8},
        "attempt":{"center":"alpha","unit_type":"core","unit_count":1}})";
constexpr const char* kFailed = R"({"id":"job_1","state":"failed","exit_code":3,"end_reason":"the program failed"})";

int code_after(const net::Response& response)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {response}}});
    return fathom(server, {"job", "show", "job_1", "--output", "json"}).code;
}

TEST(ExitCodes, FollowTheServersRefusal)
{
    EXPECT_EQ(code_after(answer(200, kJob)), 0);
    EXPECT_EQ(code_after(refusal(Errc::kConflict, "x")), 1);
    EXPECT_EQ(code_after(refusal(Errc::kInternal, "x")), 1);
    EXPECT_EQ(code_after(refusal(Errc::kInvalid, "x")), 2);
    EXPECT_EQ(code_after(refusal(Errc::kUnavailable, "x")), 3);
    EXPECT_EQ(code_after(refusal(Errc::kUnauthenticated, "x")), 4);
    EXPECT_EQ(code_after(refusal(Errc::kForbidden, "x")), 4);
    EXPECT_EQ(code_after(refusal(Errc::kNotFound, "x")), 5);
    EXPECT_EQ(code_after(refusal(Errc::kInfeasible, "x")), 6);
    EXPECT_EQ(code_after(answer(404, "not json")), 5);
}

TEST(ExitCodes, ThreeWhenNobodyListens)
{
    const Ran ran = fathom({"job", "list", "--url", "https://127.0.0.1:1"}, {{"FATHOM_TOKEN", "x"}});

    EXPECT_EQ(ran.code, 3);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("FATHOM_URL")));
}

TEST(ExitCodes, ThreeWhenTheServerIsNotTrusted)
{
    const FakeServer server({});
    const Ran ran = fathom({"job", "list", "--url", server.url()}, {{"FATHOM_TOKEN", "x"}});

    EXPECT_EQ(ran.code, 3);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("certificate"), HasSubstr("FATHOM_CA")));
}

TEST(Program, ReportsEveryFieldOnItsOwnLine)
{
    const FakeServer server(
        {{"POST /api/v1/jobs",
          {refusal(Errc::kInfeasible, "no center can run this job",
                   {{"alpha/core", "cannot run fft3d"}, {"beta/core", "the center is drained"}})}}});
    const Ran ran = fathom(server, {"job", "submit", "--operators", "fft3d=1", "--", "true"});

    EXPECT_EQ(ran.code, 6);
    EXPECT_EQ(ran.err, "fathom: no center can run this job\n"
                       "  alpha/core: cannot run fft3d\n"
                       "  beta/core: the center is drained\n"
                       "  hint: `fathom unit list` shows what the centers offer\n");
    EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Program, TakesSecretsFromItsOwnEnvironment)
{
    const FakeServer server({{"POST /api/v1/jobs", {answer(201, kJob)}}});
    const Ran ran = fathom(
        {"job", "submit", "--secret-env", "KEY", "--", "true"},
        {{"FATHOM_URL", server.url()}, {"FATHOM_CA", server.ca_file()}, {"FATHOM_TOKEN", "fth_test"}, {"KEY", "a=b"}});

    EXPECT_EQ(ran.code, 0) << ran.err;
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(Json::parse(server.requests()[0].body)["secret_environment"], Json::parse(R"({"KEY": "a=b"})"));
}

TEST(Program, SendsTokenKeyAndTheProgramUntouched)
{
    const FakeServer server({{"POST /api/v1/jobs", {answer(201, kJob)}}});
    const Ran ran = fathom(server, {"job", "submit", "--operators", "dgemm:m=8=3", "--units", "auto", "--env", "A=b=c",
                                    "--profile", "--", "sh", "-c", "echo --help", "--", "x y"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "job_1\n");
    ASSERT_EQ(server.requests().size(), 1U);
    const net::Request request = server.requests()[0];
    EXPECT_EQ(request.header("Authorization"), "Bearer fth_test");
    EXPECT_THAT(std::string(request.header("Idempotency-Key")), testing::StartsWith("cli-"));
    EXPECT_EQ(Json::parse(request.body),
              Json::parse(R"({"command":["sh","-c","echo --help","--","x y"],"environment":{"A":"b=c"},
                              "operators":[{"id":"dgemm","parameters":{"m":8},"count":3}],"units":{"count":"auto"},
                              "profile":true})"));
}

TEST(Program, RepeatsAPostUnderTheSameKeyWhenTheConnectionIsLost)
{
    const FakeServer server({{"POST /api/v1/jobs", {broken_chunks({"{"}), answer(201, kJob)}}});
    const Ran ran = fathom(server, {"job", "submit", "--", "true"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "job_1\n");
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_EQ(server.requests()[0].header("Idempotency-Key"), server.requests()[1].header("Idempotency-Key"));
}

TEST(Program, ReadsAJobFromStandardInput)
{
    const FakeServer server({{"POST /api/v1/jobs", {answer(201, kJob)}}});
    const Ran ran = fathom(server, {"job", "submit", "-", "--output", "json"}, "command: [echo, '1']\n");

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(Json::parse(ran.out), Json::parse(kJob));
    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json::parse(R"({"command":["echo","1"]})"));
}

TEST(Program, JoinsThePagesOfAList)
{
    const FakeServer server({{"GET /api/v1/centers",
                              {answer(200, R"({"items":[{"name":"alpha"}],"next_page_token":"p 2"})"),
                               answer(200, R"({"items":[{"name":"beta"}],"next_page_token":null})")}}});
    const Ran ran = fathom(server, {"center", "list", "--output", "json"});

    EXPECT_EQ(Json::parse(ran.out), Json::parse(R"({"items":[{"name":"alpha"},{"name":"beta"}]})"));
    EXPECT_EQ(server.requests().at(1).query.at("page_token"), "p 2");
}

TEST(Program, ShowsScoresForPeople)
{
    const FakeServer server({{"GET /api/v1/scores", {answer(200, R"({"items":[
            {"center":"beta","unit_type":"core","unit_count":1,"operator":"dgemm","parameters":{"k":8,"m":8},
             "median_s":0.0123,"spread":0.004,"sample_count":7,"rate_flops":2.5e10,"rate_bytes":0,"error":1e-16,
             "tolerance":1e-12,"score":1016.2,"score_low":1001,"score_high":1030,"trust_factor":1,"diversity":3,
             "measured_at":null,"probe_run_ids":["prn_3","prn_2","prn_1"]},
            {"center":"alpha","unit_type":"core","unit_count":1,"operator":"stream_triad","parameters":{"n":9},
             "median_s":2.5e-5,"spread":0.1,"sample_count":7,"rate_flops":2e9,"rate_bytes":1.2e10,"error":1e-3,
             "tolerance":1e-12,"score":508.1,"score_low":500,"score_high":520,"trust_factor":0.5,"diversity":2,
             "measured_at":null,"probe_run_ids":["prn_4"]},
            {"center":"alpha","unit_type":"gpu","unit_count":1,"operator":"spmv","parameters":{"n":9},
             "median_s":2.5e-5,"spread":0.1,"sample_count":7,"rate_flops":0,"rate_bytes":1.2e10,"error":0,
             "tolerance":1e-12,"score":null,"score_low":null,"score_high":null,"trust_factor":1,"diversity":1,
             "measured_at":null}],"next_page_token":null})")}}});

    EXPECT_EQ(
        fathom(server, {"score", "list"}).out,
        R"(CENTER  UNIT TYPE  UNITS  OPERATOR      SIZE      MEDIAN  SPREAD  SAMPLES  RESULTS          RATE  BANDWIDTH      ERROR  SCORE       95 %                 TRUST  TYPES  MEASURED
alpha   core           1  stream_triad  n=9      25.0 µs  10.0 %        7        1  2.00 GFLOP/s  12.0 GB/s  1.0e-03 !    508    500–520  ######        50.0 %      2         -
alpha   gpu            1  spmv          n=9      25.0 µs  10.0 %        7        -             -  12.0 GB/s          0      -          -                            1         -
beta    core           1  dgemm         k=8,m=8  12.3 ms   0.4 %        7        3  25.0 GFLOP/s          -    1.0e-16   1016  1001–1030  ############              3         -
)");
    EXPECT_FALSE(server.requests().at(0).query.contains("by"));
}

TEST(Program, SortsJobsAndCountsThemByGroup)
{
    const FakeServer server({{"GET /api/v1/jobs", {answer(200, R"({"items":[],"next_page_token":null})")}},
                             {"GET /api/v1/job-groups", {answer(200, R"({"by":"project","groups":[
            {"key":"materials","count":3,"states":{"queued":1,"running":2}},{"key":"","count":1,"states":{"lost":1}}],
            "group_count":7,"counted":50000,"is_cut":true})")}}});

    EXPECT_EQ(fathom(server, {"job", "list", "--sort=-name"}).code, 0);
    const Ran counted = fathom(server, {"job", "count", "--by", "project", "--state", "lost"});

    EXPECT_EQ(server.requests().at(0).query.at("sort"), "-name");
    EXPECT_EQ(server.requests().at(1).query.at("by"), "project");
    EXPECT_EQ(server.requests().at(1).query.at("state"), "lost");
    EXPECT_THAT(counted.out, AllOf(HasSubstr("PROJECT"), HasSubstr("materials"), HasSubstr("queued 1, running 2"),
                                   HasSubstr("(none)"), HasSubstr("lost 1")));
    EXPECT_THAT(counted.err, AllOf(HasSubstr("2 largest groups"), HasSubstr("newest 50 000 jobs")));
    EXPECT_EQ(fathom(server, {"job", "list", "--sort", "colour"}).code, 2);
}

TEST(Program, ShowsScoresOfJobTypesBestFirst)
{
    const FakeServer server({{"GET /api/v1/scores", {answer(200, R"({"items":[
            {"by":"job_type","name":"solver","center":"alpha","unit_type":"core","score":500,"score_low":490,
             "score_high":510,"missing_reason":null,"trust_factor":1,"oldest_measured_at":null},
            {"by":"job_type","name":"solver","center":"beta","unit_type":"core","score":1000,"score_low":900,
             "score_high":1100,"missing_reason":null,"trust_factor":0.8,"oldest_measured_at":null},
            {"by":"job_type","name":"solver","center":"gamma","unit_type":"core","score":null,"score_low":null,
             "score_high":null,"missing_reason":"1 of 2 operators have no score: fft3d/large: not measured",
             "trust_factor":1,"oldest_measured_at":null}],"next_page_token":null})")}}});

    EXPECT_EQ(fathom(server, {"score", "list", "--job-type", "solver"}).out,
              R"(JOB TYPE  CENTER  UNIT TYPE  SCORE      95 %                 TRUST  OLDEST  WHY THERE IS NONE
solver    beta    core        1000  900–1100  ############  80.0 %       -
solver    alpha   core         500   490–510  ######                     -
solver    gamma   core           -         -                             -  1 of 2 operators have no score: fft3d/large: not measured
)");
    EXPECT_EQ(server.requests().at(0).query.at("by"), "job_type");
    EXPECT_EQ(server.requests().at(0).query.at("job_type"), "solver");
}

TEST(Program, ATrialOfAPolicyShowsWhatWouldChange)
{
    const FakeServer server({{"POST /api/v1/metric-policies:try", {answer(200, R"({"policy":"mine@1",
        "active_policy":"relative-v1@3","unit_type_count":2,"unit_types":[
            {"center":"alpha","unit_type":"core","score_before":1000,"score_after":90,"rank_before":1,"rank_after":2,
             "missing_before":null,"missing_after":null},
            {"center":"beta","unit_type":"core","score_before":500,"score_after":null,"rank_before":2,
             "rank_after":null,"missing_before":null,"missing_after":"the policy has no reference figure for sort"}],
        "operators":[
            {"operator":"dgemm","parameters":{"n":8},"center":"alpha","unit_type":"core","score_before":null,
             "score_after":7,"rank_before":null,"rank_after":1,"missing_before":"x","missing_after":null}]})")}}});

    const Ran ran = fathom(server, {"policy", "try", "mine@1"});

    EXPECT_EQ(ran.out, R"(Unit types under relative-v1@3 → mine@1
CENTER  UNIT TYPE        SCORE   CHANGE   RANK  WHY THERE IS NONE
alpha   core       1000 → 90.0  -91.0 %  1 → 2
beta    core           500 → -           2 → -  the policy has no reference figure for sort

Measurements on one unit
OPERATOR  SIZE  CENTER  UNIT TYPE     SCORE  CHANGE   RANK  WHY THERE IS NONE
dgemm     n=8   alpha   core       - → 7.00          - → 1
)");
    EXPECT_EQ(server.requests().at(0).body, R"({"policy":"mine@1"})");
}

TEST(Program, APolicyWithFaultsIsRefusedBeforeItIsSent)
{
    const FakeServer server({});
    const std::string gaps = R"({"id":"x","kind":"intervals","figures":[{"figure":"time_s","weight":0.5,
        "steps":[{"below":1,"points":1},{"from":2,"points":0}]}]})";

    const Ran ran = fathom(server, {"policy", "add", "-"}, gaps);

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("gap: nothing covers [1, 2)"), HasSubstr("they sum to 0.5")));
    EXPECT_TRUE(server.requests().empty());
}

TEST(Program, KeepsASecretOffTheTerminalWhenAFileIsNamed)
{
    const FakeServer server({{"POST /api/v1/tokens", {answer(201, R"({"id":"tok_1","token":"fth_secret"})")}}});
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "cli.token";
    const Ran ran = fathom(server, {"token", "create", "--name", "me", "--role", "user", "--output-file", file.string(),
                                    "--output", "json"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read_file(file).value(), "fth_secret\n");
    EXPECT_EQ(std::filesystem::status(file).permissions() & std::filesystem::perms::mask,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(Json::parse(ran.out), Json::parse(R"({"id":"tok_1"})"));
    std::filesystem::remove(file);
}

TEST(JobWait, ReportsHowTheJobEnded)
{
    // No event stream is played: it must do without.
    const FakeServer server({{"GET /api/v1/jobs/job_1", {answer(200, kJob), answer(200, kSucceeded)}}});
    const Ran ran = fathom(server, {"job", "wait", "job_1", "--verbose"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "job job_1 succeeded at alpha/core: exit code 0, run 12.3 s (predicted 11.8 s)\n");
    EXPECT_THAT(ran.err, AllOf(HasSubstr("  queued\n"), HasSubstr("  succeeded  at alpha/core\n")));
}

TEST(JobWait, IsOneWhenTheJobFails)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {answer(200, kFailed)}}});
    const Ran ran = fathom(server, {"job", "wait", "job_1"});

    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "job job_1 failed: exit code 3, the program failed\n");
    EXPECT_THAT(ran.err, IsEmpty());
}

TEST(JobWait, GivesUpAtItsTimeLimit)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {answer(200, kJob)}}});
    const Ran ran = fathom(server, {"job", "wait", "job_1", "--timeout-s", "0.2"});

    EXPECT_EQ(ran.code, 7);
    EXPECT_THAT(ran.err, HasSubstr("still queued; it goes on"));
}

TEST(JobWait, IsWokenByAnEvent)
{
    const FakeServer server(
        {{"GET /api/v1/jobs/job_1", {answer(200, kJob), answer(200, kJob), answer(200, kSucceeded)}},
         {"GET /api/v1/events",
          {chunks(
              {"id: 1\nevent: job\ndata: {\"job_id\":\"job_1\",\"state\":\"running\",\"cause\":\"started\"}\n\n"})}}});
    const Ran ran = fathom(server, {"job", "wait", "job_1", "--verbose"});

    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, HasSubstr("running  started\n"));
}

TEST(JobSubmit, FollowShowsTheJobsOwnOutputAlone)
{
    const FakeServer server({{"POST /api/v1/jobs", {answer(201, kJob)}},
                             {"GET /api/v1/jobs/job_1", {answer(200, kSucceeded)}},
                             {"GET /api/v1/jobs/job_1/logs/stdout", {chunks({"one\n", "two\n"})}},
                             {"GET /api/v1/jobs/job_1/logs/stderr", {chunks({"oops\n"})}}});
    const Ran ran = fathom(server, {"job", "submit", "--follow", "--", "true"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "one\ntwo\n");
    EXPECT_THAT(ran.err, AllOf(HasSubstr("oops\n"), HasSubstr("job job_1 succeeded")));
}

TEST(JobLogs, GoOnWhereTheyWereWhenTheConnectionIsLost)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {answer(200, kSucceeded)}},
                             {"GET /api/v1/jobs/job_1/logs/stdout", {broken_chunks({"one\n"}), chunks({"two\n"})}}});
    const Ran ran = fathom(server, {"job", "logs", "job_1", "--follow"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "one\ntwo\n");
    EXPECT_EQ(server.requests().back().query.at("offset_bytes"), "4");
}

TEST(JobLogs, AreOfTheAttemptThatIsNamed)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1/logs/stdout", {chunks({"first try\n"})}}});

    const Ran ran = fathom(server, {"job", "logs", "job_1", "--attempt", "1"});

    EXPECT_EQ(ran.out, "first try\n") << ran.err;
    EXPECT_EQ(server.requests().back().query.at("attempt"), "1");
    EXPECT_EQ(fathom(server, {"job", "logs", "job_1"}).code, 0);
    EXPECT_FALSE(server.requests().back().query.contains("attempt"));
}

TEST(JobSubmit, WaitInJsonGivesOneDocument)
{
    const FakeServer server(
        {{"POST /api/v1/jobs", {answer(201, kJob)}}, {"GET /api/v1/jobs/job_1", {answer(200, kFailed)}}});
    const Ran ran = fathom(server, {"job", "submit", "--wait", "--output", "json", "--", "false"});

    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(Json::parse(ran.out), Json::parse(kFailed));
}

TEST(JobPreview, IsSixWhenNothingCanRunIt)
{
    const FakeServer server({{"POST /api/v1/placements:preview",
                              {answer(200, R"({"decision":{"winner":null,"candidates":[],"assumptions":[]}})")}}});
    const Ran ran = fathom(server, {"job", "preview", "--operators", "dgemm=1", "--", "true"});

    EXPECT_EQ(ran.code, 6);
    EXPECT_EQ(ran.out, "No center can run it.\n");
}

TEST(EventWatch, PrintsOneLineAnEvent)
{
    const FakeServer server(
        {{"GET /api/v1/events",
          {chunks({": hi\n\nid: 4\ndata: {\"id\":4,\"job_id\":\"job_1\",\"state\":\"running\",\"cause\":\"c\","
                   "\"at\":\"2026-11-20T11:04:14Z\"}\n\n"})}}});

    EXPECT_EQ(fathom(server, {"event", "watch", "--limit", "1"}).out, "11:04:14  job_1  running     c\n");
    EXPECT_EQ(
        fathom(server, {"event", "watch", "--limit", "1", "--output", "json"}).out,
        "{\"at\":\"2026-11-20T11:04:14Z\",\"cause\":\"c\",\"id\":4,\"job_id\":\"job_1\",\"state\":\"running\"}\n");
}

} // namespace
} // namespace fathom::cli::test
