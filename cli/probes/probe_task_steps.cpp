#include "cli/probes/probe_task_steps.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/wait_time.hpp"

namespace fathom::cli {

Result<Json> test_probe_task(Session& session, const std::string& id, TestWaiting waiting)
{
    const std::string path = "/probe-tasks/" + path_segment(id);
    Result<Json> task = session.post(path + ":test", Json());
    if (!task || waiting == TestWaiting::kNone) return task;
    const InterruptNotice notice("fathom: the test goes on; `fathom probe task show` says how it ends\n");
    WaitTime time(std::nullopt);
    while (text_of(*task, "state") == "testing") {
        if (!time.pause()) return Error{Errc::kDeadline, "the test has not ended; it goes on"};
        task = session.get(path);
        if (!task) return task;
    }
    return task;
}

std::string describe_probe_task(const Json& task)
{
    const std::string id = text_of(task, "id");
    const std::string state = text_of(task, "state");
    if (state == "draft") {
        const std::string reason = text_of(task, "state_reason", "");
        return "Probe task " + id + " is a draft" + (reason.empty() ? "" : "; its test did not end: " + reason) +
               ". `fathom probe task test " + id + "` tries it.\n";
    }
    if (state == "testing")
        return "Probe task " + id + " is being tested by " + text_of(task, "pretest_run_id") + ".\n";
    if (state == "tested")
        return "Probe task " + id + " passed its test in " + duration_of(task, "pretest_s") +
               ". `fathom probe task release " + id + "` puts it into use.\n";
    if (state == "released")
        return "Probe task " + id + " is released. `fathom probe run --task " + id + " --wait` measures it.\n";
    if (state == "refused") return "Probe task " + id + " was refused: " + text_of(task, "state_reason") + "\n";
    return "Probe task " + id + " is " + state + ".\n";
}

} // namespace fathom::cli
