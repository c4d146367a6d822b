#include "agent/executor/remote/executor_messages.hpp"
#include "agent/executor/remote/executor_service.hpp"
#include "agent/executor/remote/kept_file_channel.hpp"
#include "agent/executor/run_order.hpp"
#include "core/base/process_answer.hpp"
#include "core/base/sha256.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace fathom::agent {
namespace {

/// Holds what it is asked for against what an agent may ask for.
class StrictExecutor final : public Executor {
  public:
    void prepare() override {}
    Result<void> start(const RunOrder& run) override
    {
        check(run.order.attempt_id);
        FATHOM_ASSERT(!run.cpus.empty() && run.memory_bytes >= 0);
        FATHOM_ASSERT(run.cores >= 1 && run.cores <= static_cast<std::int64_t>(run.cpus.size()));
        for (const std::int64_t cpu : run.cpus)
            FATHOM_ASSERT(cpu == 0 || cpu == 1);
        const Result<RunOrder> again = read_run_order(to_json(run));
        FATHOM_ASSERT(again.has_value() && again->order.attempt_id == run.order.attempt_id && again->cpus == run.cpus);
        FATHOM_ASSERT(again->memory_bytes == run.memory_bytes && again->environment == run.environment);
        return {};
    }
    RunView look(const AttemptId& id) override
    {
        check(id);
        return {};
    }
    void look_at_queues(const std::vector<QueuePlace>& places) override
    {
        for (const QueuePlace& one : places) {
            FATHOM_ASSERT(!one.unit_type.empty() && one.unit_type.size() <= 128);
            FATHOM_ASSERT(one.place.cpus_per_unit >= 1 && one.place.units_per_node >= 1);
            FATHOM_ASSERT(one.place.memory_bytes_per_unit >= 0);
        }
        const Result<std::vector<QueuePlace>> again = decode_queue_places(encode(places));
        FATHOM_ASSERT(again.has_value() && *again == places);
    }
    void watch(const AttemptId& id) override { check(id); }
    void unwatch(const AttemptId& id) override { check(id); }
    ExecutorChanges changes() override { return {}; }
    int change_descriptor() const override { return -1; }
    std::vector<std::int64_t> given_cpus(const AttemptId& id) override
    {
        check(id);
        return {1};
    }
    void cancel(const AttemptId& id) override { check(id); }
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override
    {
        check(id);
        FATHOM_ASSERT(stream == OutputStream::kStdout || stream == OutputStream::kStderr);
        FATHOM_ASSERT(offset >= 0 && max_bytes <= kMaxOutputBytes);
        return std::string();
    }
    KeptFileRead kept_file_read() const override
    {
        return [](const std::string& sha256, std::int64_t offset, std::size_t max_bytes) -> Result<std::string> {
            FATHOM_ASSERT(fathom::is_sha256(sha256)); // it becomes the name of a file
            FATHOM_ASSERT(offset >= 0 && max_bytes <= kMaxOutputBytes);
            return std::string();
        };
    }
    void end_leftovers(const AttemptId& id) override { check(id); }
    std::vector<AttemptId> known() override { return {}; }
    Result<void> remove(const AttemptId& id) override
    {
        check(id);
        return {};
    }
    Json facts() const override { return Json::object(); }

  private:
    /// It becomes the name of a folder.
    static void check(const AttemptId& id)
    {
        FATHOM_ASSERT(AttemptId::parse(id.value) == id);
        FATHOM_ASSERT(id.value.find_first_of("/.") == std::string::npos);
    }
};

} // namespace
} // namespace fathom::agent

/// Whatever an agent that was taken over sends its helper, that has an executor do no more than an agent may ask for,
/// and answers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fathom::agent;
    StrictExecutor executor;
    ExecutorService service(executor);
    service.offer({0, 1});
    const std::string message(fathom::fuzz::text_of(data, size));
    // 'f': on the sockets of kept files.
    const std::optional<std::string> answer =
        message.starts_with('f') ? answer_kept_file_question(executor.kept_file_read(), message.substr(1))
                                 : service.serve(message);
    if (!answer) return 0;
    const fathom::Result<std::string> decoded = fathom::decode_answer(*answer);
    FATHOM_ASSERT(decoded.has_value() || decoded.error().code != fathom::Errc::kInternal);
    return 0;
}
