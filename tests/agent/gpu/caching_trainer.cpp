// A program shaped as training with a framework is: a caching allocator, which splits its segments; weights, optimizer
// state that comes with the first step, and tables that grow; activations and a workspace; gradients that several
// batches add to; now and then an evaluation, which needs other memory. It checks all that it wrote before it writes
// anew or lets go. Options: `steps N` at least (default 20), `until FILE` is there, `tell yes` as a framework's hook.
#include "agent/gpu/interposer/fathom_gpu.h"
#include "tests/agent/gpu/caching_allocator.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace fathom::gpu::cuda;

extern "C" {
Init cuInit;
Status cuDeviceGet(Device* device, int ordinal);
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
ModuleLoadData cuModuleLoadData;
Status cuModuleGetFunction(void** function, void* module, const char* name);
CtxSynchronize cuCtxSynchronize;
LaunchKernel cuLaunchKernel;
}

namespace caching_trainer {
namespace {

constexpr std::size_t kKiB = 1U << 10U;
constexpr std::size_t kLayers = 4;
constexpr int kBatches = 3;       ///< whose gradients are added up for one step
constexpr int kStepsOfEval = 5;   ///< an evaluation after so many steps
constexpr int kStepsOfGrowth = 4; ///< one more table after so many steps
constexpr std::size_t kMaxTables = 4;

void require(Status status, const char* what)
{
    if (status == kSuccess) return;
    std::fprintf(stderr, "caching trainer: %s: status %d\n", what, status);
    std::exit(status == kOutOfMemory ? 3 : 4);
}

struct Tensor {
    Address address{};
    std::uint64_t words{};
    std::uint64_t first_value{};
};

class Trainer {
  public:
    Trainer()
    {
        void* module = nullptr;
        require(cuModuleLoadData(&module, ""), "cuModuleLoadData");
        require(cuModuleGetFunction(&fill_, module, "fill"), "fill");
        require(cuModuleGetFunction(&check_, module, "check"), "check");
        for (std::size_t layer = 0; layer < kLayers; ++layer)
            weights_.push_back(make(128 * kKiB));
    }

    /// Forward and backward over all batches, and the optimizer.
    void step()
    {
        std::vector<Tensor> gradients;
        for (int batch = 0; batch < kBatches; ++batch)
            run_batch(gradients);
        if (optimizer_.empty()) {
            for (std::size_t layer = 0; layer < kLayers; ++layer)
                optimizer_.push_back(make(128 * kKiB));
        }
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            check(gradients.at(layer));
            write(optimizer_.at(layer));
            write(weights_.at(layer));
        }
        for (Tensor& gradient : gradients)
            drop(gradient);
        for (Tensor& table : tables_)
            write(table);
        ++steps_;
        if (steps_ % kStepsOfGrowth == 0 && tables_.size() < kMaxTables) tables_.push_back(make(96 * kKiB));
        require(cuCtxSynchronize(), "cuCtxSynchronize");
    }

    /// Each layer's activations go as soon as the next layer has them; larger batches.
    void evaluate()
    {
        Tensor before = make(768 * kKiB);
        for (const Tensor& weight : weights_) {
            check(weight);
            const Tensor next = make(768 * kKiB);
            check(before);
            drop(before);
            before = next;
        }
        check(before);
        drop(before);
        require(cuCtxSynchronize(), "cuCtxSynchronize");
    }

    /// Everything is as it was written, and nothing is left.
    void finish()
    {
        for (std::vector<Tensor>* const all : {&weights_, &optimizer_, &tables_}) {
            for (Tensor& tensor : *all) {
                check(tensor);
                drop(tensor);
            }
        }
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        allocator_.empty_cache();
    }

    CachingAllocator& allocator() { return allocator_; }
    std::int64_t steps() const { return steps_; }

  private:
    void run(void* kernel, const Tensor& tensor) const
    {
        Tensor one = tensor;
        void* parameters[] = {&one.address, &one.words, &one.first_value};
        require(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
    }
    void check(const Tensor& tensor) const { run(check_, tensor); }
    /// With numbers that no tensor had before, after a look at those that it has.
    void write(Tensor& tensor)
    {
        if (tensor.first_value != 0) check(tensor);
        tensor.first_value = next_value_;
        next_value_ += tensor.words;
        run(fill_, tensor);
    }
    Tensor make(std::size_t bytes)
    {
        Tensor tensor{allocator_.allocate(bytes), bytes / sizeof(std::uint64_t), 0};
        write(tensor);
        return tensor;
    }
    void drop(Tensor& tensor)
    {
        allocator_.release(tensor.address);
        tensor = {};
    }

    void run_batch(std::vector<Tensor>& gradients)
    {
        std::vector<Tensor> activations;
        for (const Tensor& weight : weights_) {
            check(weight);
            activations.push_back(make(512 * kKiB));
            Tensor workspace = make(320 * kKiB);
            check(workspace);
            drop(workspace);
        }
        while (!activations.empty()) {
            check(activations.back());
            drop(activations.back());
            activations.pop_back();
        }
        if (gradients.empty()) {
            for (std::size_t layer = 0; layer < kLayers; ++layer)
                gradients.push_back(make(128 * kKiB));
        } else {
            for (Tensor& gradient : gradients)
                write(gradient); // adds to it
        }
    }

    void* fill_{};
    void* check_{};
    std::uint64_t next_value_ = 1;
    std::int64_t steps_{};
    CachingAllocator allocator_;
    std::vector<Tensor> weights_;
    std::vector<Tensor> optimizer_;
    std::vector<Tensor> tables_;
};

/// What a framework's hook does after each step.
void end_iteration(Trainer& trainer)
{
    auto* const end =
        reinterpret_cast<decltype(fathom_gpu_iteration_end)*>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    auto* const is_over =
        reinterpret_cast<decltype(fathom_gpu_is_turn_over)*>(::dlsym(RTLD_DEFAULT, "fathom_gpu_is_turn_over"));
    if (end == nullptr || is_over == nullptr) return;
    if (is_over() == 1) trainer.allocator().empty_cache();
    end();
}

void train(std::map<std::string, std::string>& options)
{
    Trainer trainer;
    const std::int64_t least_steps = options.contains("steps") ? std::stoll(options["steps"]) : 20;
    const std::string until = options["until"];
    const auto is_done = [&] {
        return trainer.steps() >= least_steps && (until.empty() || std::filesystem::exists(until));
    };
    std::printf("started\n");
    std::fflush(stdout);
    while (!is_done()) {
        trainer.step();
        if (trainer.steps() % kStepsOfEval == 0) trainer.evaluate();
        if (options["tell"] == "yes") end_iteration(trainer);
    }
    trainer.finish();
    const CachingAllocator::Counts& counts = trainer.allocator().counts();
    std::printf("{\"steps\": %lld, \"splits\": %lld, \"joins\": %lld, \"reuses\": %lld, \"segments\": %lld, "
                "\"given_back\": %lld, \"is_empty\": %s}\n",
                static_cast<long long>(trainer.steps()), static_cast<long long>(counts.splits),
                static_cast<long long>(counts.joins), static_cast<long long>(counts.reuses),
                static_cast<long long>(counts.segments), static_cast<long long>(counts.given_back),
                trainer.allocator().is_empty() ? "true" : "false");
}

} // namespace
} // namespace caching_trainer

int main(int argc, char** argv)
{
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2)
        options[argv[i]] = argv[i + 1];
    Device device = 0;
    Context context = nullptr;
    caching_trainer::require(cuInit(0), "cuInit");
    caching_trainer::require(cuDeviceGet(&device, 0), "cuDeviceGet");
    caching_trainer::require(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
    caching_trainer::train(options);
    return 0;
}
