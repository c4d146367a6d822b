// The agent's process and its helper: what one asks for, the other does, and no more.

#include "agent/executor/remote/executor_service.hpp"
#include "agent/executor/remote/kept_file_channel.hpp"
#include "agent/executor/remote/remote_executor.hpp"
#include "agent/executor/run_order.hpp"
#include "core/base/process_answer.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <future>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::shell_order;
using testing::ElementsAre;
using testing::HasSubstr;

/// Remembers what it was told.
class NotingExecutor final : public Executor {
  public:
    void prepare() override { ++preparations; }
    Result<void> start(const RunOrder& run) override
    {
        started.push_back(run);
        return start_result;
    }
    RunView look(const AttemptId& id) override { return views[id]; }
    void look_at_queues(const std::vector<QueuePlace>& places) override { queue_places = places; }
    void watch(const AttemptId& id) override { said.push_back("watch " + id.value); }
    void unwatch(const AttemptId& id) override { said.push_back("unwatch " + id.value); }
    ExecutorChanges changes() override
    {
        std::uint64_t count = 0;
        EXPECT_EQ(::read(descriptor, &count, sizeof count), static_cast<ssize_t>(sizeof count));
        return news;
    }
    int change_descriptor() const override { return descriptor; }
    bool places() const override { return places_jobs; }
    std::vector<std::int64_t> given_cpus(const AttemptId& /*id*/) override { return {1, 2, 3, 7}; }
    void cancel(const AttemptId& id) override { said.push_back("cancel " + id.value); }
    Result<std::string> read_output(const AttemptId& /*id*/, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override
    {
        const std::string& text = stream == OutputStream::kStderr ? errors : output;
        return text.substr(std::min(static_cast<std::size_t>(offset), text.size()), max_bytes);
    }
    KeptFileRead kept_file_read() const override
    {
        return [this](const std::string& sha256, std::int64_t offset, std::size_t max_bytes) -> Result<std::string> {
            if (hung.valid()) hung.wait();
            ++reads[sha256];
            return output.substr(std::min(static_cast<std::size_t>(offset), output.size()), max_bytes);
        };
    }
    void end_leftovers(const AttemptId& id) override { said.push_back("end " + id.value); }
    std::vector<AttemptId> known() override { return folders; }
    Result<void> remove(const AttemptId& /*id*/) override { return Error{Errc::kConflict, "not yet"}; }
    Json facts() const override { return {{"executor", "noting"}}; }

    bool places_jobs = false;
    int preparations = 0;
    Result<void> start_result{};
    std::vector<RunOrder> started;
    std::vector<std::string> said;
    std::map<AttemptId, RunView> views;
    std::vector<AttemptId> folders;
    std::vector<QueuePlace> queue_places;
    ExecutorChanges news;
    std::string output;
    std::string errors;
    std::shared_future<void> hung;            ///< valid: no kept file is read before
    mutable std::map<std::string, int> reads; ///< of kept files
    int descriptor = ::eventfd(0, EFD_CLOEXEC);
};

/// A RemoteExecutor here, its helper on a thread, and an executor there.
class RemoteExecutorTest : public testing::Test {
  protected:
    RemoteExecutorTest()
    {
        ExecutorSockets sockets = make_executor_sockets().value();
        service_.offer({0, 1});
        ExecutorSockets files = make_executor_sockets().value();
        remote_.emplace(std::move(sockets.agent), OpenFile(::dup(there_.descriptor)), there_.facts(), false,
                        ask_for_kept_files(std::move(files.agent)));
        serve_kept_files(std::move(files.helper), there_.kept_file_read());
        helper_ = std::jthread([this, socket = std::move(sockets.helper)] {
            for (;;) {
                const Result<std::string> request = receive_message(socket.number());
                if (!request) return;
                if (const std::optional<std::string> answer = service_.serve(*request))
                    static_cast<void>(send_message(socket.number(), *answer));
            }
        });
    }
    ~RemoteExecutorTest() override
    {
        remote_.reset(); // which ends the helper
        helper_.join();
        ::close(there_.descriptor);
    }

    static RunOrder run_of(const AttemptOrder& order, std::vector<std::int64_t> cpus = {1})
    {
        return {order, std::move(cpus), 1, 0, {{"NAME", "value"}}};
    }

    NotingExecutor there_;
    ExecutorService service_{there_};
    std::optional<RemoteExecutor> remote_;
    std::jthread helper_;
};

TEST_F(RemoteExecutorTest, HandsOverAnOrderOfManyMegabytesUnchanged)
{
    AttemptOrder order = shell_order("true");
    order.files["large"] = std::string(7UL << 20U, 'x');
    order.environment["TEXT"] = "line\nline \"quoted\" ü";
    RunOrder run = run_of(order);
    run.library = R"([{"id": "dgemm"}])";

    const Result<void> started = remote_->start(run);

    ASSERT_TRUE(started) << started.error().detail;
    ASSERT_EQ(there_.started.size(), 1U);
    EXPECT_EQ(there_.started[0].order.attempt_id, order.attempt_id);
    EXPECT_EQ(there_.started[0].order.files, order.files);
    EXPECT_EQ(there_.started[0].order.environment, order.environment);
    EXPECT_THAT(there_.started[0].cpus, ElementsAre(1));
    EXPECT_EQ(there_.started[0].environment.at("NAME"), "value");
    EXPECT_EQ(there_.started[0].library, run.library);
}

TEST_F(RemoteExecutorTest, HandsOverWhichQueuesToLookAtAndWhatTheySay)
{
    const std::vector<QueuePlace> places{
        {"quad",
         {.partition = "main", .constraint = "ib&big", .cpus_per_unit = 8, .units_per_node = 2, .units_per_switch = 36},
         600},
        {"gpu",
         {.partition = "gpu",
          .constraint = "",
          .cpus_per_unit = 1,
          .memory_bytes_per_unit = 1 << 30,
          .devices_per_unit = 2,
          .devices = "gpu:a100"}}};
    remote_->look_at_queues(places);
    remote_->watch(AttemptId::make()); // answered: the request before it is done
    EXPECT_EQ(there_.queue_places, places);

    there_.news.queues = {{"quad", parse_rfc3339("2026-11-24T19:56:47Z").value()}, {"gpu", std::nullopt}};
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(there_.descriptor, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    EXPECT_EQ(remote_->changes().queues, there_.news.queues);
}

TEST_F(RemoteExecutorTest, TellsWhyItWasNotStarted)
{
    there_.start_result = Error{Errc::kTooMany, "no user id is free"};

    const Result<void> started = remote_->start(run_of(shell_order("true")));

    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Errc::kTooMany);
    EXPECT_EQ(started.error().detail, "no user id is free");
}

TEST_F(RemoteExecutorTest, GivesNoProcessorThatTheCenterDoesNotOffer)
{
    EXPECT_THAT(remote_->start(run_of(shell_order("true"), {1, 5})).error().detail, HasSubstr("processor 5"));
    EXPECT_FALSE(remote_->start(run_of(shell_order("true"), {}))) << "which would be all of them";
    RunOrder greedy = run_of(shell_order("true"), {0, 1});
    greedy.cores = 1'000'000;

    ASSERT_TRUE(remote_->start(greedy));

    ASSERT_EQ(there_.started.size(), 1U);
    EXPECT_EQ(there_.started[0].cores, 2) << "as many processes as its processors allow";
    service_.offer({5});
    EXPECT_TRUE(remote_->start(run_of(shell_order("true"), {1, 5}))) << "after a change of the settings";
}

TEST_F(RemoteExecutorTest, HandsOverWhereABatchSystemIsToRunAnOrder)
{
    there_.places_jobs = true;
    RunOrder run = run_of(shell_order("true"), {});
    run.place = BatchPlace{.partition = "main",
                           .constraint = "ib",
                           .cpus_per_unit = 8,
                           .units_per_node = 2,
                           .memory_bytes_per_unit = 1LL << 30U};

    ASSERT_TRUE(remote_->start(run));
    EXPECT_EQ(there_.started.at(0).place, run.place);

    run.place->devices_per_unit = -1;
    EXPECT_FALSE(remote_->start(run));
    run.place->devices_per_unit = 0;
    run.place->units_per_switch = -1;
    EXPECT_FALSE(remote_->start(run));
    run.place->units_per_switch = 0;
    run.place->cpus_per_unit = 0;
    EXPECT_FALSE(remote_->start(run));
    run.place.reset();
    EXPECT_FALSE(remote_->start(run));
}

TEST_F(RemoteExecutorTest, TellsWhyAnAttemptIsQueued)
{
    const AttemptId id = AttemptId::make();
    there_.views[id] = {.phase = RunPhase::kQueued, .queue = QueueState{"Resources", Timestamp(std::chrono::hours(1))}};

    const RunView view = remote_->look(id);

    EXPECT_EQ(view.phase, RunPhase::kQueued);
    ASSERT_TRUE(view.queue);
    EXPECT_EQ(view.queue->reason, "Resources");
    EXPECT_EQ(view.queue->expected_start, Timestamp(std::chrono::hours(1)));
}

TEST_F(RemoteExecutorTest, TellsHowAnAttemptStands)
{
    const AttemptId absent = AttemptId::make();
    const AttemptId alive = AttemptId::make();
    const AttemptId ended = AttemptId::make();
    const Timestamp start{std::chrono::seconds(1'800'000'000)};
    there_.views[alive] = {RunPhase::kAlive, start};
    AttemptEnd end;
    end.attempt_id = ended;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 3;
    end.started_at = start;
    end.ended_at = start + std::chrono::seconds(2);
    end.detail = "a\nb";
    there_.views[ended] = {RunPhase::kEnded, start, end};

    EXPECT_EQ(remote_->look(absent).phase, RunPhase::kAbsent);
    EXPECT_EQ(remote_->look(alive).phase, RunPhase::kAlive);
    EXPECT_EQ(remote_->look(alive).started_at, start);
    const RunView view = remote_->look(ended);
    EXPECT_EQ(view.phase, RunPhase::kEnded);
    ASSERT_TRUE(view.end);
    EXPECT_EQ(view.end->exit_code, 3);
    EXPECT_EQ(view.end->detail, "a\nb");
    EXPECT_EQ(view.end->ended_at, end.ended_at);
}

TEST_F(RemoteExecutorTest, ReadsOutputAsItIs)
{
    there_.output = std::string("a\0b\xFF\n+-", 7);
    there_.errors = std::string(3UL << 20U, 'e');
    const AttemptId id = AttemptId::make();

    EXPECT_EQ(remote_->read_output(id, OutputStream::kStdout, 0, 100).value(), there_.output);
    EXPECT_EQ(remote_->read_output(id, OutputStream::kStdout, 2, 2).value(), there_.output.substr(2, 2));
    EXPECT_EQ(remote_->read_output(id, OutputStream::kStdout, 99, 2).value(), "");
    EXPECT_EQ(remote_->read_output(id, OutputStream::kStderr, 0, 64UL << 20U).value().size(), kMaxOutputBytes);
}

TEST_F(RemoteExecutorTest, ReadsKeptFilesByTheirContentAlone)
{
    there_.output = std::string(3UL << 20U, 'k');
    const std::string sha256(64, 'a');

    const KeptFileRead read = remote_->kept_file_read();

    EXPECT_EQ(read(sha256, 1, 4).value(), "kkkk");
    EXPECT_EQ(read(sha256, 99LL << 20U, 4).value(), "");
    EXPECT_EQ(read(sha256, 0, 64UL << 20U).value().size(), kMaxOutputBytes);
    for (const std::string& name : {std::string("../../etc/passwd"), std::string(64, 'A'), std::string()})
        EXPECT_EQ(read(name, 0, 4).error().code, Errc::kInvalid) << name;
    EXPECT_EQ(read(sha256, -1, 4).error().code, Errc::kInvalid);
    EXPECT_THAT(there_.reads, ElementsAre(testing::Pair(sha256, 3)));
}

TEST_F(RemoteExecutorTest, GoesOnWhileAKeptFileIsNotRead)
{
    std::promise<void> back;
    there_.hung = back.get_future().share();
    there_.output = "kept";
    auto reading = std::async(std::launch::async,
                              [read = remote_->kept_file_read()] { return read(std::string(64, 'a'), 0, 4).value(); });

    const AttemptId id = AttemptId::make();
    there_.views[id] = {.phase = RunPhase::kAlive};
    EXPECT_EQ(remote_->look(id).phase, RunPhase::kAlive);
    EXPECT_EQ(remote_->read_output(id, OutputStream::kStdout, 0, 4).value(), "kept");

    back.set_value();
    EXPECT_EQ(reading.get(), "kept");
}

TEST_F(RemoteExecutorTest, TellsOfChangesWithoutAskingForNone)
{
    there_.news = {.moved = {AttemptId::make()}, .written = {AttemptId::make(), AttemptId::make()}};
    EXPECT_TRUE(remote_->changes().moved.empty());

    const std::uint64_t one = 1;
    ASSERT_EQ(::write(there_.descriptor, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    const ExecutorChanges changes = remote_->changes();

    EXPECT_EQ(changes.moved, there_.news.moved);
    EXPECT_EQ(changes.written, there_.news.written);
    EXPECT_FALSE(changes.some_missed);
}

TEST_F(RemoteExecutorTest, PassesOnWhatElseIsAskedFor)
{
    const AttemptId id = AttemptId::make();
    there_.folders = {id, AttemptId::make()};
    service_.read_settings = [] { return Result<std::string>("settings"); };

    remote_->watch(id);
    remote_->unwatch(id);
    remote_->cancel(id);
    remote_->end_leftovers(id);

    EXPECT_THAT(there_.said,
                ElementsAre("watch " + id.value, "unwatch " + id.value, "cancel " + id.value, "end " + id.value));
    EXPECT_EQ(remote_->known(), there_.folders);
    EXPECT_THAT(remote_->given_cpus(id), ElementsAre(1, 2, 3, 7));
    EXPECT_EQ(remote_->remove(id).error().code, Errc::kConflict);
    EXPECT_EQ(remote_->facts(), there_.facts());
    EXPECT_EQ(remote_->read_settings().value(), "settings");
    remote_->prepare();
    remote_->prepare();
    remote_->known(); // what was asked for before is done
    EXPECT_EQ(there_.preparations, 1) << "the second one is for nothing";
}

/// Without a RemoteExecutor, which would not ask for such things.
TEST_F(RemoteExecutorTest, RefusesAttemptsThatAreNone)
{
    const auto refusal = [&](const std::string& message) {
        const std::optional<std::string> answer = service_.serve(message);
        return answer && !decode_answer(*answer);
    };
    const std::string good = AttemptId::make().value;
    const std::vector<std::string> bad{"",
                                       "..",
                                       "../../etc",
                                       "/etc",
                                       good + "/work",
                                       good + std::string(1, '\0'),
                                       "att_../../../../../../etc/pa",
                                       "ctr" + good.substr(3)};
    for (const std::string& id : bad) {
        for (const char kind : {'l', 'w', 'u', 'g', 'x', 'e', 'r'})
            EXPECT_TRUE(refusal(kind + id)) << kind << id;
        EXPECT_TRUE(
            refusal("o" + Json{{"attempt_id", id}, {"stream", "stdout"}, {"offset", 0}, {"max_bytes", 9}}.dump()))
            << id;
    }
    for (const std::string message : {"", "?", "s", "s{}", "s[[[[[[[[[[[[[[[[[[[[[", "o{}"})
        EXPECT_TRUE(refusal(message)) << message;
    AttemptOrder order = shell_order("true");
    order.attempt_id.value = "att_../../../../../../../etc";
    EXPECT_TRUE(refusal("s" + to_json(run_of(order)).dump()));
    EXPECT_TRUE(refusal("o" + Json{{"attempt_id", good}, {"stream", "work"}, {"offset", 0}, {"max_bytes", 9}}.dump()));
    EXPECT_TRUE(
        refusal("o" + Json{{"attempt_id", good}, {"stream", "stdout"}, {"offset", -1}, {"max_bytes", 9}}.dump()));
    EXPECT_TRUE(there_.said.empty());
    EXPECT_TRUE(there_.started.empty());
}

TEST(ExecutorMessages, AreRefusedWhenTooLongAndEndWithTheOtherEnd)
{
    ExecutorSockets sockets = make_executor_sockets().value();
    EXPECT_EQ(send_message(sockets.agent.number(), std::string(kMaxExecutorMessageBytes + 1, 'x')).error().code,
              Errc::kTooLarge);
    const std::uint32_t length = 0xFFFFFFFF;
    ASSERT_EQ(::send(sockets.agent.number(), &length, sizeof length, 0), static_cast<ssize_t>(sizeof length));
    EXPECT_EQ(receive_message(sockets.helper.number()).error().code, Errc::kUnavailable);

    sockets = make_executor_sockets().value();
    sockets.agent = OpenFile();

    EXPECT_EQ(receive_message(sockets.helper.number()).error().code, Errc::kNotFound);
    EXPECT_EQ(send_message(sockets.helper.number(), "hello").error().code, Errc::kUnavailable);
}

} // namespace
} // namespace fathom::agent
