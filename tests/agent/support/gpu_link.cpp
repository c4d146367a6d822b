#include "tests/agent/support/gpu_link.hpp"

#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <cstdlib>

namespace fathom::agent::test {
namespace {

namespace fs = std::filesystem;

void set_variable(const char* name, const std::string& value)
{
    ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): the fake server's threads read none
}

} // namespace

GpuLink::GpuLink(const std::string& gpus, const std::string& tables)
{
    for (const fs::path& folder : {folder_.path(), cards_.path()})
        fs::permissions(folder, fs::perms(0755)); // the agent's user and jobs read there
    for (const char* program : {"fathom-probe", "fathom-operator-host", "libfathom-gpu.so"})
        fs::copy(agent_program().parent_path() / program, folder_.path());
    for (const fs::directory_entry& library : fs::directory_iterator(FATHOM_STANDIN_GPU))
        fs::copy(library, folder_.path());
    describe_gpus(gpus);
    set_variable("FATHOM_STANDIN_GPUS", this->gpus().string());
    set_variable("LD_LIBRARY_PATH", folder_.path().string());
    const std::string environment = "[environment]\nFATHOM_STANDIN_GPUS = \"" + this->gpus().string() +
                                    "\"\nFATHOM_STANDIN_CARDS = \"" + cards().string() + "\"\n";
    write_config("core", "shared_folders = \"" + folder_.path().string() + "," + cards().string() +
                             "\"\nprobe_program = \"" + (folder_.path() / "fathom-probe").string() + "\"\n" +
                             environment + tables);
}

GpuLink::~GpuLink()
{
    for (const char* name : {"FATHOM_STANDIN_GPUS", "LD_LIBRARY_PATH"})
        ::unsetenv(name); // NOLINT(concurrency-mt-unsafe): see above
}

void GpuLink::describe_gpus(const std::string& lines) const
{
    write_file(gpus(), lines, 0644).value();
}

AttemptEnd GpuLink::end_of(const AttemptId& id) const
{
    return server_.wait_for_attempt<link::AttemptEnded>(id).end;
}

std::string GpuLink::output_of(const AttemptEnd& end) const
{
    std::string text; // it comes in pieces
    while (std::ssize(text) < end.stdout_bytes) {
        const auto is_next = [&](const link::Message& message) {
            const auto* piece = std::get_if<link::AttemptOutput>(&message.body);
            return piece != nullptr && piece->attempt_id == end.attempt_id && piece->stream == "stdout" &&
                   piece->offset_bytes == std::ssize(text);
        };
        text += std::get<link::AttemptOutput>(server_.wait_for("the next piece of output", is_next).body).data;
    }
    return text;
}

std::string GpuLink::run(AttemptOrder order, const std::string& unit_type)
{
    order.unit_type = unit_type;
    server_.send(link::StartAttempt{order});
    const AttemptEnd end = end_of(order.attempt_id);
    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0);
    return output_of(end);
}

} // namespace fathom::agent::test
