#include "server/store/after_commit.hpp"

#include <utility>

namespace fathom::server {
namespace {

thread_local CommitActs* t_commit_acts = nullptr;

} // namespace

CommitActs::CommitActs() : outer_(std::exchange(t_commit_acts, this)) {}

CommitActs::~CommitActs()
{
    t_commit_acts = outer_;
}

void CommitActs::run()
{
    for (const std::function<void()>& act : std::exchange(acts_, {}))
        act();
}

void CommitActs::hand_over()
{
    if (outer_ == nullptr) return run();
    for (std::function<void()>& act : acts_)
        outer_->add(std::move(act));
    acts_.clear();
}

void after_commit(std::function<void()> act)
{
    if (t_commit_acts != nullptr)
        t_commit_acts->add(std::move(act));
    else
        act();
}

} // namespace fathom::server
