// What slurmrestd is asked and answers (v0.0.38), in the words of a real one of Slurm 22.05.8.

#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/rest_answers.hpp"
#include "agent/executor/slurm/rest_submission.hpp"
#include "agent/executor/slurm/rest_token.hpp"
#include "core/base/base64url.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

const Timestamp kNow = parse_rfc3339("2026-11-29T22:30:00Z").value();

Timestamp at(std::int64_t time_s)
{
    return Timestamp(std::chrono::seconds(time_s));
}

RunOrder run_at(BatchPlace place)
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.order.wall_limit_s = 90;
    run.place = std::move(place);
    return run;
}

TEST(SlurmRestSubmission, AsksForWhatTheScriptAsksSbatchFor)
{
    const RunOrder run = run_at({.partition = "main",
                                 .constraint = "a100&nvme",
                                 .cpus_per_unit = 4,
                                 .units_per_node = 2,
                                 .memory_bytes_per_unit = 8LL << 30U,
                                 .devices_per_unit = 1,
                                 .devices = "gpu:tesla"});
    const std::string script =
        batch_script(run, {"/shared/a"}, {.account = "fathom", .qos = "low", .user = "ann", .programs = "/opt"})
            .value();

    const Json order = rest_submission(script).value();

    EXPECT_EQ(order["script"], script);
    const Json& job = order["job"];
    EXPECT_EQ(job["name"], run.order.attempt_id.value);
    EXPECT_EQ(job["comment"], "fathom " + run.order.label + " " + run.order.job_id.value);
    EXPECT_EQ(job["account"], "fathom");
    EXPECT_EQ(job["qos"], "low");
    EXPECT_EQ(job["partition"], "main");
    EXPECT_EQ(job["constraints"], "a100&nvme");
    EXPECT_EQ(job["nodes"], Json::array({1, 1}));
    EXPECT_EQ(job["tasks"], 1);
    EXPECT_EQ(job["cpus_per_task"], 4);
    EXPECT_EQ(job["memory_per_cpu"], 2048);
    EXPECT_EQ(job["gres"], "gpu:tesla:1");
    EXPECT_EQ(job["time_limit"], 2); // whole minutes: not shorter than asked
    EXPECT_EQ(job["current_working_directory"], "/shared/a/work");
    EXPECT_EQ(job["standard_output"], "/shared/a/stdout");
    EXPECT_EQ(job["standard_error"], "/shared/a/stderr");
    EXPECT_EQ(job["standard_input"], "/dev/null");
    EXPECT_EQ(job["open_mode"], "append");
    EXPECT_FALSE(job.contains("requeue")); // any value of it would mean true
    EXPECT_EQ(job["environment"].size(), 1U);
}

TEST(SlurmRestSubmission, OfSeveralNodesAsksForTheirTasks)
{
    RunOrder run = run_at({.partition = "main",
                           .constraint = {},
                           .cpus_per_unit = 2,
                           .units_per_node = 1,
                           .memory_bytes_per_unit = 0,
                           .devices_per_unit = 1,
                           .devices = "gpu:tesla"});
    run.order.unit_count = 3;

    const Json job = rest_submission(batch_script(run, {"/shared/a"}, {}).value()).value()["job"];

    EXPECT_EQ(job["tasks"], 3);
    EXPECT_FALSE(job.contains("nodes"));
    EXPECT_EQ(job["gpus_per_task"], "tesla:1");
}

TEST(SlurmRestSubmission, LeavesNothingOut)
{
    for (const char* line : {"#SBATCH --exclusive", "#SBATCH --ntasks=many", "#SBATCH --ntasks=0", "#SBATCH --time=5",
                             "#SBATCH --mem-per-cpu=5G", "#SBATCH --comment=\"a\"b\"", "#SBATCH --partition="}) {
        const Result<Json> order = rest_submission(std::string("#!/bin/bash\n") + line + "\n\ntrue\n");
        ASSERT_FALSE(order) << line;
        EXPECT_EQ(order.error().code, Errc::kInvalid);
        EXPECT_THAT(order.error().detail, HasSubstr(line));
    }
    EXPECT_FALSE(rest_submission("#!/bin/bash\n\necho \xFF\n"));
}

TEST(SlurmRestSubmission, OptionsEndWhereTheProgramBegins)
{
    const Json job = rest_submission("#!/bin/bash\n#SBATCH --ntasks=1\n\n#SBATCH --ntasks=9\n").value()["job"];

    EXPECT_EQ(job["tasks"], 1);
}

std::string with_errors(const std::string& errors, const std::string& more = "")
{
    return R"({"meta":{"Slurm":{"release":"22.05.8"}},"errors":[)" + errors + "]" + more + "}";
}

TEST(SlurmRestAnswers, TellTheNumberOfAJobEvenWithAWarning)
{
    EXPECT_EQ(parse_rest_submitted({200, with_errors("", R"(,"job_id":5,"step_id":"BATCH")")}).value(), "5");
    const std::string warned =
        with_errors(R"({"error_code":2015,"error":"Requested partition configuration not available now"})",
                    R"(,"job_id":4,"step_id":"BATCH","job_submit_user_msg":"")");
    EXPECT_EQ(parse_rest_submitted({200, warned}).value(), "4");
}

/// What a submission's refusal means for the job.
TEST(SlurmRestAnswers, TellRefusalsApart)
{
    struct Golden {
        long status;
        std::string body;
        Errc code;
        const char* words;
    };
    const std::vector<Golden> goldens{
        {500, with_errors(R"({"error_code":2000,"error":"Invalid partition name specified"})"), Errc::kInvalid,
         "Invalid partition name"},
        {500, with_errors(R"({"error_code":2078,"error":"Job violates accounting/QOS policy"})"), Errc::kTooMany,
         "QOS policy"},
        {400, with_errors(R"({"description":"Unknown key \"maximum_nodes\"","source":"hsearch_r"},
                        {"error_code":9001,"error":"Failure during parsing"})"),
         Errc::kInvalid, "maximum_nodes"},
        {500, with_errors(R"j({"error_code":1800,"error":"Unable to contact slurm controller (connect failure)"})j"),
         Errc::kUnavailable, "Unable to contact"},
        {500, with_errors(R"({"error_code":5005,"error":"Zero Bytes were transmitted or received"})"),
         Errc::kUnavailable, "slurm_token_file"},
        {401, "Authentication failure", Errc::kUnavailable, "rest_auth/jwt"},
        {404, "Unable find requested URL.", Errc::kUnavailable, "404"},
        {502, "<html>", Errc::kUnavailable, "502"},
        {200, "not JSON", Errc::kUnavailable, "cannot be read"},
        {200, with_errors("", R"(,"job_id":"5")"), Errc::kUnavailable, "job_id"},
        {200, with_errors(""), Errc::kUnavailable, "job_id"},
    };
    for (const Golden& golden : goldens) {
        const Result<std::string> job = parse_rest_submitted({golden.status, golden.body});
        ASSERT_FALSE(job) << golden.body;
        EXPECT_EQ(job.error().code, golden.code) << golden.body;
        EXPECT_THAT(job.error().detail, HasSubstr(golden.words));
    }
}

/// As slurmrestd shows a job; `more` takes the place of its last members.
std::string shown(const std::string& more)
{
    return R"({"job_id":7,"name":"att","user_id":65534,"exit_code":0,"nodes":"vm","state_reason":"None",
               "start_time":1795991069,"end_time":1795991189,"suspend_time":0,"pre_sus_time":0,"time_limit":2,)" +
           more + "}";
}

Result<std::vector<SlurmJob>> queue_of(const std::string& jobs, std::int64_t now_s = 1795991079)
{
    return parse_rest_queue({200, with_errors("", ",\"jobs\":[" + jobs + "]")}, {65534}, at(now_s));
}

TEST(SlurmRestAnswers, ShowJobsAsSqueueDoes)
{
    const SlurmJob job = queue_of(shown(R"("job_state":"RUNNING")")).value().at(0);

    EXPECT_EQ(job.id, "7");
    EXPECT_EQ(job.name, "att");
    EXPECT_EQ(job.uid, 65534U);
    EXPECT_EQ(job.state, "RUNNING");
    EXPECT_EQ(job.start, at(1795991069));
    EXPECT_EQ(job.used_s, 10);
    EXPECT_EQ(job.nodes, "vm");
    EXPECT_EQ(job.reason, "None");
    EXPECT_FALSE(job.is_requeued);
    EXPECT_TRUE(queue_of(shown(R"("job_state":"RUNNING","requeue":true)")).value().at(0).is_requeued);
}

TEST(SlurmRestAnswers, TellAnEndByTheStatusOfWait)
{
    const SlurmJob job =
        queue_of(R"({"job_id":6,"name":"att","user_id":65534,"exit_code":139,"nodes":"vm","job_state":"FAILED",
                     "state_reason":"JobLaunchFailure","start_time":1795991070,"end_time":1795991073})")
            .value()
            .at(0);

    EXPECT_EQ(job.wait_status, 139);
    EXPECT_EQ(job.end, at(1795991073));
    EXPECT_EQ(job.used_s, 3);
}

TEST(SlurmRestAnswers, LeaveOutTimeInWhichAJobWasSuspended)
{
    const std::string resumed = R"({"job_id":7,"name":"att","user_id":65534,"exit_code":0,"nodes":"vm",
        "state_reason":"None","job_state":"RUNNING","start_time":1795991000,"end_time":0,
        "suspend_time":1795991060,"pre_sus_time":20})";

    EXPECT_EQ(queue_of(resumed, 1795991065).value().at(0).used_s, 25);
}

TEST(SlurmRestAnswers, AreReadStrictlyButForOtherUsersJobs)
{
    EXPECT_EQ(queue_of(R"({"user_id":0,"job_state":5})").value().size(), 0U);
    for (const std::string& bad : {shown(R"("job_state":5)"), shown(R"("job_state":"")"), shown(R"("x":1)"),
                                   std::string(R"({"job_id":1})"), std::string("3")}) {
        const Result<std::vector<SlurmJob>> jobs = queue_of(bad);
        ASSERT_FALSE(jobs) << bad;
        EXPECT_EQ(jobs.error().code, Errc::kUnavailable);
        EXPECT_THAT(jobs.error().detail, HasSubstr("jobs[0]"));
    }
    EXPECT_FALSE(parse_rest_queue({200, with_errors("")}, {1}, kNow)) << "without jobs";
}

TEST(SlurmRestAnswers, SayWhyThereIsNoQueue)
{
    const std::string body = with_errors(R"({"description":"Failed while looking for jobs","error_number":-1,
        "error":"Unspecified error","source":"slurm_load_jobs"})",
                                         R"(,"jobs":[])");

    const Result<std::vector<SlurmJob>> jobs = parse_rest_queue({500, body}, {1}, kNow);

    ASSERT_FALSE(jobs);
    EXPECT_EQ(jobs.error().code, Errc::kUnavailable);
    EXPECT_THAT(jobs.error().detail, HasSubstr("Unspecified error: Failed while looking for jobs"));
}

std::string account_in(const std::string& state, const std::string& exit_code, const std::string& nodes = "vm")
{
    return R"({"job_id":5,"name":"att","user":"ann","nodes":")" + nodes + R"(","state":{"current":")" + state +
           R"(","reason":"None"},"time":{"start":1795991069,"end":1795991072,"elapsed":3},"exit_code":)" + exit_code +
           R"(,"steps":[{"time":{"total":{"seconds":2,"microseconds":500000}},
               "tres":{"requested":{"total":[{"type":"cpu","count":0},{"type":"mem","count":4571136}]}},
               "statistics":{"energy":{"consumed":900}}},
              {"time":{"total":{"seconds":0,"microseconds":6633}},"tres":{"requested":{"total":[]}},
               "statistics":{"energy":{"consumed":null}}}]})";
}

Result<std::vector<SlurmJob>> accounts_of(const std::string& jobs)
{
    return parse_rest_accounts({200, with_errors("", ",\"jobs\":[" + jobs + "]")},
                               [](const std::string& name) -> std::optional<unsigned> {
                                   return name == "ann" ? std::optional(2000U) : std::nullopt;
                               });
}

TEST(SlurmRestAccounts, SayWhatAJobUsed)
{
    const SlurmJob job = accounts_of(account_in("COMPLETED", R"({"status":"SUCCESS","return_code":0})")).value().at(0);

    EXPECT_EQ(job.uid, 2000U);
    EXPECT_EQ(job.end, at(1795991072));
    EXPECT_NEAR(job.cpu_s, 2.506633, 1e-9);
    EXPECT_EQ(job.peak_memory_bytes, 4571136);
    EXPECT_EQ(job.energy_j, 900);
    EXPECT_TRUE(job.knows_status);
}

TEST(SlurmRestAccounts, SayASignalButNotAnExitCode)
{
    const SlurmJob killed = accounts_of(account_in("FAILED", R"({"status":"SIGNALED","return_code":null,
        "signal":{"signal_id":11,"name":"Segmentation fault"}})"))
                                .value()
                                .at(0);
    EXPECT_EQ(killed.wait_status, 11);
    EXPECT_TRUE(killed.knows_status);
    // Of a program that ended with 7, slurmrestd 22.05.8 says 0.
    const std::string success = R"({"status":"SUCCESS","return_code":0})";
    EXPECT_FALSE(accounts_of(account_in("FAILED", success)).value().at(0).knows_status);
    EXPECT_TRUE(accounts_of(account_in("FAILED", success, "None assigned")).value().at(0).knows_status);
}

TEST(SlurmRestAccounts, MayBeThereForOthersOnlyOrNotAtAll)
{
    std::string strangers = account_in("FAILED", R"({"status":"SUCCESS","return_code":0})");
    strangers.replace(strangers.find("\"ann\""), 5, "\"bob\"");
    EXPECT_TRUE(accounts_of(strangers).value().empty());

    const auto nobody = [](const std::string&) { return std::optional<unsigned>(); };
    const auto none = with_errors(R"({"error_number":9003,"error":"Nothing found with query"})", R"(,"jobs":[])");
    EXPECT_TRUE(parse_rest_accounts({200, none}, nobody).value().empty());
    const auto away = with_errors(R"({"error_number":7000,"error":"Unable to connect to database"})", R"(,"jobs":[])");
    EXPECT_EQ(parse_rest_accounts({200, away}, nobody).error().code, Errc::kUnavailable);
    EXPECT_EQ(parse_rest_accounts({404, "Unable find requested URL."}, nobody).error().code, Errc::kInfeasible);
}

TEST(SlurmRestAnswers, PassOverJobsThatHaveEnded)
{
    EXPECT_TRUE(parse_rest_cancelled({200, with_errors("")}));
    EXPECT_TRUE(parse_rest_cancelled(
        {500, with_errors(R"({"error_number":2017,"error":"Invalid job id specified","source":"slurm_kill_job"})")}));
    const Result<void> refused =
        parse_rest_cancelled({500, with_errors(R"({"error_number":2010,"error":"Access/permission denied"})")});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail, HasSubstr("permission"));
}

std::string token_with(const std::string& claims)
{
    return base64url_encode(R"({"alg":"HS256","typ":"JWT"})") + "." + base64url_encode(claims) + ".c2lnbmF0dXJl";
}

TEST(SlurmToken, SaysWhoseItIsAndHowLong)
{
    const TokenClaims claims = claims_of_token(token_with(R"({"exp":1795991069,"iat":1,"sun":"ann"})"));

    EXPECT_EQ(claims.expiry, at(1795991069));
    EXPECT_EQ(claims.user, "ann");
    for (const std::string& text : {std::string(), std::string("a.b.c"), std::string("..."), token_with("[]"),
                                    token_with(R"({"exp":-1})"), token_with(R"({"exp":1e300})"), token_with("{}")}) {
        EXPECT_FALSE(claims_of_token(text).expiry) << text;
    }
}

TEST(SlurmToken, IsReadAsScontrolPrintsIt)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "token";
    const std::string token = token_with(R"({"exp":1896000000,"sun":"ann"})");
    write_file(path, "SLURM_JWT=" + token + "\n", 0600).value();

    EXPECT_EQ(read_slurm_token(path, kNow).value(), token);
    write_file(path, "other\n", 0600).value();
    EXPECT_EQ(read_slurm_token(path, kNow).value(), "other");
}

TEST(SlurmToken, IsRefusedWithTheWayOut)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "token";
    const auto why = [&] { return read_slurm_token(path, kNow).error().detail; };

    EXPECT_THAT(why(), HasSubstr(path.string()));
    write_file(path, token_with(R"({"exp":1795991069})"), 0600).value();
    EXPECT_THAT(why(), HasSubstr("expired at 2026-11-29T22:24:29"));
    write_file(path, "token", 0640).value();
    EXPECT_THAT(why(), HasSubstr("chmod 600"));
    write_file(path, "two words", 0600).value();
    EXPECT_THAT(why(), HasSubstr("holds no token"));
    write_file(path, std::string(20'000, 'x'), 0600).value();
    EXPECT_THAT(why(), HasSubstr("too long"));
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_THAT(why(), HasSubstr("is no file"));
    EXPECT_THAT(why(), Not(HasSubstr("xxx")));
}

} // namespace
} // namespace fathom::agent
