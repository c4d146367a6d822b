// The executor against a stand-in of an API server in this process.

#include "agent/executor/kubernetes/kubernetes_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/core/net/support.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace fathom::agent {
namespace {

using net::Method;
using net::Request;
using net::Response;
using testing::Each;
using testing::HasSubstr;

/// Keeps Jobs, tells of pods what the test says, and ends each watch at once.
class StandIn {
  public:
    StandIn() : server_(routes()) {}

    std::string address() const { return "https://localhost:" + std::to_string(server_.endpoint().port); }
    /// The pod's state as lists have it from here on.
    void set_pod(const Json& pod)
    {
        const std::scoped_lock lock(mutex_);
        pods_ = Json::array({pod});
        is_pods_version_gone_ = true;
    }
    void set_job(Json job)
    {
        const std::scoped_lock lock(mutex_);
        const std::string name = job["metadata"]["name"].get<std::string>();
        jobs_[name] = std::move(job);
    }
    std::vector<Json> jobs()
    {
        const std::scoped_lock lock(mutex_);
        std::vector<Json> jobs;
        for (const auto& [name, job] : jobs_)
            jobs.push_back(job);
        return jobs;
    }
    std::vector<std::string> tokens()
    {
        const std::scoped_lock lock(mutex_);
        return tokens_;
    }
    std::vector<Json> deletions()
    {
        const std::scoped_lock lock(mutex_);
        return deletions_;
    }
    void set_log(std::string log)
    {
        const std::scoped_lock lock(mutex_);
        log_ = std::move(log);
    }

  private:
    net::Handler locked(std::function<Response(Request&)> make)
    {
        return net::test::answer_with([this, make = std::move(make)](Request& request) {
            const std::scoped_lock lock(mutex_);
            tokens_.emplace_back(request.header("authorization"));
            return make(request);
        });
    }
    /// A list, or a watch that is over at once, or whose version the server does not have any more.
    static Response list_of(const Request& request, const Json& items, bool& is_version_gone)
    {
        if (request.query.contains("watch")) {
            if (!std::exchange(is_version_gone, false)) return net::json_response(200, "");
            return net::json_response(200, R"({"type": "ERROR", "object": {"code": 410, "reason": "Expired"}})"
                                           "\n");
        }
        return net::json_response(200, Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", items}}.dump());
    }
    net::Router routes()
    {
        const std::string jobs = "/apis/batch/v1/namespaces/center/jobs";
        net::Router routes;
        routes.add(Method::kPost, jobs, locked([this](Request& request) {
                       Json job = parse_json(request.body).value();
                       job["metadata"]["uid"] = "uid-1";
                       const std::string name = job["metadata"]["name"];
                       if (jobs_.contains(name)) return net::json_response(409, R"({"message": "already exists"})");
                       jobs_[name] = job;
                       is_jobs_version_gone_ = true;
                       return net::json_response(201, job.dump());
                   }));
        routes.add(Method::kGet, jobs, locked([this](Request& request) {
                       Json items = Json::array();
                       for (const auto& [name, job] : jobs_)
                           items.push_back(job);
                       return list_of(request, items, is_jobs_version_gone_);
                   }));
        routes.add(Method::kGet, jobs + "/{name}", locked([this](Request& request) {
                       const auto found = jobs_.find(request.path_params.at("name"));
                       return found == jobs_.end() ? net::json_response(404, "{}")
                                                   : net::json_response(200, found->second.dump());
                   }));
        routes.add(Method::kDelete, jobs + "/{name}", locked([this](Request& request) {
                       deletions_.push_back(parse_json(request.body).value());
                       jobs_.erase(request.path_params.at("name"));
                       is_jobs_version_gone_ = true;
                       return net::json_response(200, "{}");
                   }));
        routes.add(Method::kGet, "/api/v1/namespaces/center/pods",
                   locked([this](Request& request) { return list_of(request, pods_, is_pods_version_gone_); }));
        routes.add(Method::kGet, "/api/v1/namespaces/center/pods/{name}/log",
                   locked([this](Request&) { return net::json_response(200, log_); }));
        return routes;
    }

    std::mutex mutex_;
    std::map<std::string, Json> jobs_;
    Json pods_ = Json::array();
    std::vector<Json> deletions_;
    std::vector<std::string> tokens_;
    std::string log_;
    bool is_jobs_version_gone_ = false;
    bool is_pods_version_gone_ = false;
    net::test::TestServer server_; ///< last, so that it ends first
};

class KubernetesExecutorTest : public testing::Test {
  protected:
    KubernetesExecutorTest()
    {
        write_file(folder_.path() / "ca.crt", net::test::authority().certificate_pem).value();
        write_file(folder_.path() / "token", "secret-1\n").value();
        run_.order = test::shell_order("true");
        run_.order.label = "job";
        run_.place = BatchPlace{.partition = {}, .constraint = {}, .cpus_per_unit = 1, .units_per_node = 1};
    }
    KubernetesExecutorOptions options()
    {
        KubernetesConfig config;
        config.api = server_.address();
        config.ca_file = folder_.path() / "ca.crt";
        config.token_file = folder_.path() / "token";
        config.name_space = "center";
        config.center = "alpha";
        config.image = "jobs:1";
        return {.folder = folder_.path() / "attempts",
                .kubernetes = config,
                .user = {"me", ::getuid(), ::getgid()},
                .programs = "/opt/fathom",
                .asks_server = false};
    }
    Json pod(const Json& status) const
    {
        return {{"metadata", {{"name", "pod-1"}, {"uid", "pod-uid"}, {"labels", {{"fathom/attempt", id().value}}}}},
                {"spec", {{"nodeName", "n1"}}},
                {"status", status}};
    }
    Json ended_pod(int exit_code, const std::string& reason) const
    {
        Json container = {{"state", {{"terminated", {{"exitCode", exit_code}, {"reason", reason}}}}}};
        return pod({{"phase", "Failed"}, {"containerStatuses", Json::array({std::move(container)})}});
    }
    void note_start() const
    {
        write_file(folder_.path() / "attempts" / id().value / "report" / "started",
                   std::to_string(::time(nullptr)) + ".5\n")
            .value();
    }
    const AttemptId& id() const { return run_.order.attempt_id; }
    /// As soon as `is_so`, or after a minute.
    template <class Condition>
    static bool wait_until(const Condition& is_so)
    {
        for (int i = 0; i < 600; ++i) {
            if (is_so()) return true;
            ::usleep(100'000);
        }
        return is_so();
    }
    AttemptEnd wait_end(Executor& executor) const
    {
        EXPECT_TRUE(wait_until([&] { return executor.look(id()).phase == RunPhase::kEnded; }));
        return executor.look(id()).end.value_or(AttemptEnd());
    }

    test::TemporaryFolder folder_;
    StandIn server_;
    RunOrder run_;
};

TEST_F(KubernetesExecutorTest, MakesOneJobAndTellsItsWay)
{
    KubernetesExecutor executor(options());
    ASSERT_TRUE(executor.start(run_));
    ASSERT_TRUE(executor.start(run_));
    ASSERT_TRUE(wait_until([&] { return server_.jobs().size() == 1; }));
    EXPECT_EQ(server_.jobs()[0]["metadata"]["name"], job_name(id()));

    Json waiting = {{"state", {{"waiting", {{"reason", "ImagePullBackOff"}, {"message", "no such image"}}}}}};
    server_.set_pod(pod({{"phase", "Pending"}, {"containerStatuses", Json::array({std::move(waiting)})}}));
    EXPECT_TRUE(wait_until([&] {
        const RunView view = executor.look(id());
        return view.queue && view.queue->reason == "ImagePullBackOff: no such image";
    }));
    note_start();
    Json running = {{"state", {{"running", Json::object()}}}};
    server_.set_pod(pod({{"phase", "Running"}, {"containerStatuses", Json::array({std::move(running)})}}));
    EXPECT_TRUE(wait_until([&] { return executor.look(id()).phase == RunPhase::kAlive; }));
    server_.set_pod(ended_pod(3, "Error"));

    EXPECT_EQ(wait_end(executor).exit_code, 3);
    EXPECT_THAT(server_.tokens(), Each("Bearer secret-1"));
}

TEST_F(KubernetesExecutorTest, RunsThePodsOfAUserWithItsOwnIdsAndRefusesWhoHasNone)
{
    KubernetesExecutorOptions mapping = options();
    mapping.mapped = {{{.users = {"ann"}, .project = {}, .local_user = "ann", .account = {}, .qos = {}},
                       JobUser{"ann", 20001, 20002}}};
    KubernetesExecutor executor(mapping);
    EXPECT_TRUE(executor.facts().at("maps_users").get<bool>());
    EXPECT_TRUE(executor.facts().at("isolation").at("uid_per_user").get<bool>());

    run_.order.owner = {"tok_a", "ann", "climate"};
    ASSERT_TRUE(executor.start(run_));
    ASSERT_TRUE(wait_until([&] { return server_.jobs().size() == 1; }));
    const Json context = server_.jobs()[0]["spec"]["template"]["spec"]["securityContext"];
    EXPECT_EQ(context["runAsUser"], 20001);
    EXPECT_EQ(context["runAsGroup"], 20002);
    EXPECT_TRUE(context["runAsNonRoot"].get<bool>());

    RunOrder others = run_;
    others.order.attempt_id = AttemptId::make();
    others.order.owner = {"tok_b", "bob", "climate"};
    ASSERT_TRUE(executor.start(others));
    const RunView refused = executor.look(others.order.attempt_id);
    ASSERT_EQ(refused.phase, RunPhase::kEnded);
    EXPECT_EQ(refused.end->outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(refused.end->cause, AttemptCause::kNoLocalUser);
    EXPECT_THAT(refused.end->detail, HasSubstr("no local user: this center has none for bob"));
    EXPECT_THAT(refused.end->detail, HasSubstr("[[kubernetes_user]]"));

    RunOrder probe = others;
    probe.order.attempt_id = AttemptId::make();
    probe.order.label = "probe";
    ASSERT_TRUE(executor.start(probe));
    EXPECT_TRUE(wait_until([&] { return server_.jobs().size() == 2; })) << "a probe is nobody's";
}

TEST_F(KubernetesExecutorTest, RunsAJobInTheImageThatItNamesWhereJobsMay)
{
    EXPECT_FALSE(KubernetesExecutor(options()).facts().contains("software"));
    KubernetesExecutorOptions open = options();
    open.kubernetes.takes_job_images = true;
    std::optional<KubernetesExecutor> executor(std::in_place, open);
    EXPECT_EQ(executor->facts().at("software"),
              Json({{"modules", false}, {"containers", true}, {"container_runtime", "kubernetes"}}));

    run_.order.software.image = "registry/theirs:2";
    ASSERT_TRUE(executor->start(run_));
    ASSERT_TRUE(wait_until([&] { return server_.jobs().size() == 1; }));
    EXPECT_EQ(server_.jobs()[0]["spec"]["template"]["spec"]["containers"].at(0)["image"], "registry/theirs:2");

    // A later run of the agent knows, too, whose image it is.
    Json no_shell = {{"state", {{"terminated", {{"exitCode", 128}, {"reason", "StartError"}}}}}};
    server_.set_pod(pod({{"phase", "Failed"}, {"containerStatuses", Json::array({std::move(no_shell)})}}));
    executor.reset();
    executor.emplace(open);
    executor->prepare();
    EXPECT_EQ(wait_end(*executor).cause, AttemptCause::kProgramNotStarted);

    RunOrder file = run_;
    file.order.attempt_id = AttemptId::make();
    file.order.software.image = "/images/theirs.sif";
    ASSERT_TRUE(executor->start(file));
    const AttemptEnd end = executor->look(file.order.attempt_id).end.value();
    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end.cause, AttemptCause::kProgramNotStarted) << "the center could do nothing about it";
}

TEST_F(KubernetesExecutorTest, TakesAJobThatIsThereForItsOwnByItsLabels)
{
    server_.set_job({{"metadata",
                      {{"name", job_name(id())},
                       {"uid", "uid-0"},
                       {"labels", {{"fathom/attempt", id().value}, {"fathom/center", "alpha"}}}}}});
    KubernetesExecutor executor(options());
    ASSERT_TRUE(executor.start(run_));
    const std::filesystem::path note = folder_.path() / "attempts" / id().value / "job_id";

    EXPECT_TRUE(wait_until([&] {
        return [&] {
            const Result<std::string> text = read_file(note);
            return text && *text == "uid-0";
        }();
    }));
    EXPECT_EQ(server_.jobs().size(), 1U);
}

TEST_F(KubernetesExecutorTest, DoesNotTakeAnotherCentersJob)
{
    server_.set_job({{"metadata",
                      {{"name", job_name(id())},
                       {"uid", "uid-0"},
                       {"labels", {{"fathom/attempt", id().value}, {"fathom/center", "beta"}}}}}});
    KubernetesExecutor executor(options());
    ASSERT_TRUE(executor.start(run_));

    EXPECT_EQ(wait_end(executor).outcome, AttemptOutcome::kFailedToStart);
}

TEST_F(KubernetesExecutorTest, DeletesTheJobOfACancelledAttempt)
{
    KubernetesExecutor executor(options());
    ASSERT_TRUE(executor.start(run_));
    ASSERT_TRUE(wait_until([&] { return !server_.jobs().empty(); }));

    executor.cancel(id());

    EXPECT_EQ(wait_end(executor).outcome, AttemptOutcome::kCancelled);
    ASSERT_FALSE(server_.deletions().empty());
    EXPECT_EQ(server_.deletions()[0]["propagationPolicy"], "Background");
    EXPECT_EQ(server_.deletions()[0]["preconditions"]["uid"], "uid-1");
}

TEST_F(KubernetesExecutorTest, TellsByThePodsLogWhyAProgramDidNotBegin)
{
    server_.set_log("/bin/sh: 0: cannot open job.sh\n");
    KubernetesExecutor executor(options());
    ASSERT_TRUE(executor.start(run_));
    ASSERT_TRUE(wait_until([&] { return !server_.jobs().empty(); }));

    server_.set_pod(ended_pod(2, "Error"));

    const AttemptEnd end = wait_end(executor);
    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(end.detail, HasSubstr("cannot open job.sh"));
    EXPECT_THAT(executor.read_output(id(), OutputStream::kStderr, 0, 1000).value(), HasSubstr("cannot open job.sh"));
}

TEST_F(KubernetesExecutorTest, DoesNotMakeAJobAgainThatHasBegunBeforeARestart)
{
    {
        KubernetesExecutor executor(options());
        ASSERT_TRUE(executor.start(run_));
        ASSERT_TRUE(wait_until([&] { return !server_.jobs().empty(); }));
        executor.cancel(id()); // so that its Job goes
        wait_end(executor);
    }
    const std::filesystem::path folder = folder_.path() / "attempts" / id().value;
    std::filesystem::remove(folder / "job_id");
    std::filesystem::remove(folder / "stop");
    note_start();
    write_file(folder / "report" / "first", "pod-0\n").value();
    write_file(folder / "report" / "ended", "4 1764000002.5\n").value();
    KubernetesExecutor again(options());
    again.watch(id());
    again.prepare();

    EXPECT_EQ(wait_end(again).exit_code, 4);
    EXPECT_TRUE(server_.jobs().empty());
}

TEST(KubernetesRefusals, SayWhatHelps)
{
    EXPECT_THAT(refusal_of(403, R"({"message": "jobs is forbidden"})", "create a Job").detail,
                HasSubstr("docs/kubernetes.md"));
    EXPECT_EQ(refusal_of(401, "", "x").code, Errc::kUnauthenticated);
    EXPECT_EQ(refusal_of(422, "", "x").code, Errc::kInvalid);
    EXPECT_EQ(refusal_of(503, "", "x").code, Errc::kUnavailable);
}

TEST(KubernetesPauses, GrowWithFailuresUnlessTheServerSays)
{
    using namespace std::chrono_literals;
    EXPECT_EQ(pause_after(0, ""), 0ms);
    EXPECT_EQ(pause_after(1, ""), 1s);
    EXPECT_EQ(pause_after(3, ""), 4s);
    EXPECT_EQ(pause_after(100, ""), 60s);
    EXPECT_EQ(pause_after(1, "7"), 7s);
    EXPECT_EQ(pause_after(1, "9999"), 60s);
}

} // namespace
} // namespace fathom::agent
