#include "agent/app/balance_command.hpp"

#include "agent/app/agent_folder.hpp"
#include "agent/balance/trace_reader.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::milliseconds kFollowInterval{200};

struct BalanceView {
    std::filesystem::path state_dir;
    std::string unit; ///< empty: all
    std::size_t last = 20;
    bool follows = false;
    bool is_json = false;
    bool plots = false;
};

void show(const BalanceView& view, const Json& step)
{
    if (view.is_json)
        std::cout << step.dump() << "\n";
    else
        std::cout << (view.plots ? trace_plot_line(step) : trace_line(step)) << "\n";
}

/// The steps that are asked for.
std::vector<Json> of_unit(std::vector<Json> steps, const std::string& unit)
{
    if (!unit.empty()) std::erase_if(steps, [&](const Json& step) { return step.value("unit", Json()) != Json(unit); });
    return steps;
}

Result<void> show_trace(const BalanceView& view)
{
    Result<AgentFolder> folder = open_agent_folder(view.state_dir);
    if (!folder) return folder.error();
    const uid_t owner = folder->user ? folder->user->uid : ::geteuid();
    TraceReader reader(std::move(folder->folder), owner);
    bool is_first = true;
    for (;;) {
        Result<std::vector<Json>> read = reader.next();
        if (!read) return read.error();
        const std::vector<Json> steps = of_unit(std::move(*read), view.unit);
        const std::size_t left_out = is_first && steps.size() > view.last ? steps.size() - view.last : 0;
        for (std::size_t i = left_out; i < steps.size(); ++i)
            show(view, steps[i]);
        std::cout.flush();
        if (is_first && steps.empty() && !view.follows)
            std::cerr
                << "no step yet: a unit is balanced while a job runs on it, and [balance] enabled = true is set\n";
        if (!view.follows || !std::cout) return {};
        is_first = false;
        std::this_thread::sleep_for(kFollowInterval);
    }
}

} // namespace

int balance_command(int argc, const char* const* argv)
{
    BalanceView view;
    CLI::App app("Shows what the loops that balance transfer and compute at this center's units have done:\n"
                 "occupancies of the link (P_p) and of the unit (P_d), the error e between them, the output u,\n"
                 "and the reason of each step. `fathom unit balance CENTER/UNIT` shows it from anywhere.\n",
                 "fathom-agent balance");
    app.add_option("--state-dir", view.state_dir, "state folder of this center's agent")->required();
    app.add_option("--unit", view.unit, "only this unit");
    app.add_option("--last", view.last, "how many steps of the past")->capture_default_str();
    app.add_flag("--follow", view.follows, "go on with each new step until Ctrl-C");
    CLI::Option* const json = app.add_flag("--json", view.is_json, "one JSON object a step");
    app.add_flag("--plot", view.plots, "error and output as a drawing of characters")->excludes(json);
    app.footer("Example: fathom-agent balance --state-dir /var/lib/fathom-agent --follow\n"
               "How the loop is switched on and what the figures mean: docs/balance.md.\n"
               "Exit codes: 0 done, 1 failed, 2 wrong use.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    const Result<void> shown = show_trace(view);
    if (shown) return 0;
    std::cerr << "fathom-agent balance: " << describe(shown.error()) << "\n";
    return 1;
}

} // namespace fathom::agent
