#pragma once

#include "agent/gpu/memory/coordinator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom::gpu {

inline constexpr std::int64_t kOneMiB = 1LL << 20U;
inline const std::string kOneGpu = "GPU-1";

/// One GPU of 64 MiB.
class TwoAtOnce {
  public:
    explicit TwoAtOnce(std::size_t at_once = 2, double settle_s = 0) : all_(make(at_once, settle_s)) {}

    void join(ClientId id, std::int64_t persistent, std::int64_t temporary, std::int64_t kernel_class,
              std::int64_t had = 0, std::int64_t priority = 0)
    {
        all_.connect(id, 100 + static_cast<std::int64_t>(id));
        say(id,
            with_text({.type = MessageType::kHello, .second = 1000, .third = priority}, "job-" + std::to_string(id)));
        if (kernel_class != kClassUnknown)
            say(id, with_text({.type = MessageType::kKind, .first = kernel_class}, "kind-" + std::to_string(id)));
        say(id, with_text({.type = MessageType::kUseGpu, .second = persistent, .third = temporary, .fourth = had},
                          kOneGpu));
    }
    void say(ClientId id, const Message& message) { all_.receive(id, message, now_s_); }
    void want(ClientId id) { say(id, {.type = MessageType::kWant}); }
    void give_back(ClientId id) { say(id, {.type = MessageType::kGiveBack, .first = 1, .third = 1000}); }
    void grow(ClientId id, MemoryKind kind, std::int64_t bytes)
    {
        say(id, with_text({.type = MessageType::kGrow, .first = static_cast<std::int64_t>(kind), .second = bytes},
                          kOneGpu));
    }
    /// So many iterations that take so long each.
    void iterate(ClientId id, double each_s, int count)
    {
        for (int i = 0; i < count; ++i) {
            now_s_ += each_s;
            say(id, {.type = MessageType::kIterationEnd, .first = kIterationByCall});
        }
    }
    /// Of two beside each other.
    void iterate_both(double first_each_s, double second_each_s, double for_s)
    {
        const double began = now_s_;
        double first_s = began + first_each_s;
        double second_s = began + second_each_s;
        while (std::min(first_s, second_s) < began + for_s) {
            const ClientId next = first_s <= second_s ? 1 : 2;
            now_s_ = std::min(first_s, second_s);
            (next == 1 ? first_s : second_s) += next == 1 ? first_each_s : second_each_s;
            say(next, {.type = MessageType::kIterationEnd, .first = kIterationByCall});
        }
    }
    void pass(double seconds)
    {
        now_s_ += seconds;
        all_.tick(now_s_);
    }
    void leave(ClientId id) { all_.disconnect(id, now_s_); }

    std::vector<MessageType> heard_by(ClientId id)
    {
        for (const Outgoing& one : all_.take_outgoing())
            heard_[one.to].push_back(one.message.type);
        return std::exchange(heard_[id], {});
    }
    bool has_turn(ClientId id) const
    {
        const std::vector<SharedGpuJob> jobs = all_.report().gpus.at(0).jobs;
        return std::any_of(jobs.begin(), jobs.end(), [&](const SharedGpuJob& job) {
            return job.job == "job-" + std::to_string(id) && job.has_turn;
        });
    }
    void know(const std::vector<GpuPair>& pairs) { all_.know_pairs(pairs); }
    std::vector<MeasuredJobPair> pairs() const { return all_.report().pairs; }
    SharedGpu gpu() const { return all_.report().gpus.at(0); }

  private:
    static Coordinator make(std::size_t at_once, double settle_s)
    {
        CoordinatorSettings settings;
        settings.gpus = {{kOneGpu, 64 * kOneMiB}};
        settings.gap_bytes = 0;
        settings.settle_s = settle_s;
        settings.turns.at_once = at_once;
        return Coordinator::make(settings, 0).value();
    }

    Coordinator all_;
    double now_s_ = 0;
    std::map<ClientId, std::vector<MessageType>> heard_;
};

using Types = std::vector<MessageType>;

} // namespace fathom::gpu
