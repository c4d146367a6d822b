#pragma once

#include "agent/executor/executor.hpp"

#include <map>

namespace fathom::agent::test {

/// An executor whose attempts stand as the test says.
class FakeExecutor final : public Executor {
  public:
    void prepare() override {}
    Result<void> start(const RunOrder& run) override
    {
        started.push_back(run.order.attempt_id);
        libraries.push_back(run.library);
        environments.push_back(run.environment);
        return {};
    }
    RunView look(const AttemptId& id) override
    {
        ++looks;
        const auto found = views.find(id);
        return found == views.end() ? RunView{RunPhase::kEnded} : found->second;
    }
    void watch(const AttemptId& /*id*/) override {}
    void unwatch(const AttemptId& /*id*/) override {}
    ExecutorChanges changes() override { return std::exchange(news, {}); }
    int change_descriptor() const override { return -1; }
    std::vector<std::int64_t> given_cpus(const AttemptId& id) override { return cpus[id]; }
    void cancel(const AttemptId& /*id*/) override {}
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override
    {
        ++reads;
        const auto found = written.find(id);
        if (stream == OutputStream::kStderr || found == written.end()) return std::string();
        const auto begin = std::min(static_cast<std::size_t>(offset), found->second.size());
        return found->second.substr(begin, max_bytes);
    }
    void end_leftovers(const AttemptId& /*id*/) override {}
    std::vector<AttemptId> known() override { return folders; }
    Result<void> remove(const AttemptId& id) override
    {
        ++removals;
        if (is_busy) return Error{Errc::kConflict, "not yet"};
        if (is_stubborn) return Error{Errc::kUnavailable, "cannot delete " + id.value};
        std::erase(folders, id);
        return {};
    }
    Json facts() const override { return Json::object(); }

    std::map<AttemptId, RunView> views;       ///< of others: they have ended
    std::map<AttemptId, std::string> written; ///< standard output
    std::map<AttemptId, std::vector<std::int64_t>> cpus;
    ExecutorChanges news;
    std::vector<AttemptId> folders;
    std::vector<AttemptId> started;
    std::vector<std::string> libraries;                           ///< RunOrder::library of these
    std::vector<std::map<std::string, std::string>> environments; ///< RunOrder::environment of each
    bool is_stubborn = false;                                     ///< folders cannot be removed
    bool is_busy = false;                                         ///< folders cannot be removed yet
    int removals = 0;
    int looks = 0;
    int reads = 0;
};

} // namespace fathom::agent::test
