#include "core/decide/corun/corun_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace fathom {
namespace {

const ObjectReader::StringRule kName{.min_length = 1, .max_length = 256};

/// A pair with the names that its sample refers to.
struct NamedPair {
    std::string a;
    std::string b;
    KernelClass a_class{};
    KernelClass b_class{};
    bool fits{true};
    PairSample sample;
};

/// Reads the document's parts into one question.
class QuestionReader {
  public:
    explicit QuestionReader(const Json& json) : reader_(json, "", errors_) {}

    Result<CorunQuestion> read()
    {
        read_settings();
        read_runs();
        read_pairs();
        each("running", kMaxConcurrent, [&](ObjectReader& kernel) { read_running(kernel); });
        each("waiting", kMaxWaiting, [&](ObjectReader& kernel) { read_waiting(kernel); });
        reader_.finish(UnknownFields::kReject);
        // What is wrong in itself comes first: a decision over half-read kernels would name the same again.
        if (errors_.empty()) {
            const Result<CorunDecision> decision = decide_corun(question_.state, question_.pairs);
            if (!decision) errors_ = decision.error().fields;
        }
        return value_or_errors(std::move(question_), std::move(errors_), "the GPU's state");
    }

  private:
    template <class Read>
    void each(const char* name, std::size_t most, Read read)
    {
        if (!reader_.has(name)) return;
        const Json* items = reader_.array(name, 0, most);
        if (items == nullptr) return;
        for (std::size_t i = 0; i < items->size(); ++i) {
            ObjectReader item((*items)[i], fmt::format("{}[{}]", name, i), errors_);
            read(item);
            item.finish(UnknownFields::kReject);
        }
    }

    void read_settings()
    {
        CorunSettings& settings = question_.state.settings;
        const auto most = static_cast<std::int64_t>(kMaxConcurrent);
        settings.limit = static_cast<std::size_t>(reader_.optional_integer("limit", 1, most).value_or(2));
        settings.memory_decay =
            reader_.optional_number("memory_decay", kMinMemoryDecay, kMaxMemoryDecay).value_or(kMemoryDecay);
        settings.may_run_fewer = reader_.optional_boolean("may_run_fewer").value_or(false);
        device_balance_ = reader_.optional_number("device_balance", 1e-6, 1e12);
    }

    void read_runs()
    {
        std::vector<InstructionSample> runs;
        each("runs", kMaxRuns, [&](ObjectReader& item) {
            InstructionSample& run = runs.emplace_back();
            run.application = item.required_string("application", kName);
            run.kernel = item.required_string("kernel", kName);
            run.input_size = item.required_number("input_size", 1 / kMaxInputSize, kMaxInputSize);
            run.instructions = item.required_number("instructions", 1, kMaxInstructions);
        });
        if (!errors_.empty()) return;
        std::sort(runs.begin(), runs.end(), [](const InstructionSample& a, const InstructionSample& b) {
            return std::tie(a.application, a.kernel, a.input_size, a.instructions) <
                   std::tie(b.application, b.kernel, b.input_size, b.instructions);
        });
        for (const InstructionSample& run : runs) {
            if (const Result<void> learned = model_.learn(run); !learned) reader_.fail("runs", learned.error().detail);
        }
        question_.prediction_errors = model_.cross_validate();
    }

    void read_pairs()
    {
        std::vector<NamedPair> pairs;
        each("pairs", kMaxPairs, [&](ObjectReader& item) {
            NamedPair& pair = pairs.emplace_back();
            pair.a = item.required_string("a", kName);
            pair.b = item.required_string("b", kName);
            pair.a_class = class_of(item, "a_class");
            pair.b_class = class_of(item, "b_class");
            pair.fits = item.optional_boolean("fits").value_or(true);
            if (!pair.fits) return;
            PairSample& sample = pair.sample;
            sample.a_share = item.required_number("a_normalized_ipc", kMinShare, kMaxShare);
            sample.b_share = item.required_number("b_normalized_ipc", kMinShare, kMaxShare);
            sample.a_spread = item.optional_number("a_spread", 0, kMaxShare).value_or(0);
            sample.b_spread = item.optional_number("b_spread", 0, kMaxShare).value_or(0);
            sample.count = item.optional_integer("count", 1, 1'000'000'000).value_or(1);
        });
        if (!errors_.empty()) return;
        std::sort(pairs.begin(), pairs.end(), [](const NamedPair& a, const NamedPair& b) {
            return std::tie(a.a, a.b, a.sample.a_share, a.sample.b_share, a.sample.count) <
                   std::tie(b.a, b.b, b.sample.a_share, b.sample.b_share, b.sample.count);
        });
        for (NamedPair& pair : pairs) {
            pair.sample.a = {pair.a, pair.a_class};
            pair.sample.b = {pair.b, pair.b_class};
            if (!pair.fits) {
                question_.pairs.exclude(pair.sample.a, pair.sample.b);
                continue;
            }
            if (const Result<void> added = question_.pairs.add(pair.sample); !added)
                reader_.fail("pairs", added.error().detail);
        }
        question_.pairs.refit();
    }

    static KernelClass class_of(ObjectReader& item, const char* name)
    {
        return parse_kernel_class(
                   item.optional_string(name, {.one_of = {"unknown", "compute", "memory"}}).value_or("unknown"))
            .value_or(KernelClass::kUnknown);
    }

    /// Times at two clocks, where the kernel has them.
    static std::optional<ClockTimings> timings_of(ObjectReader& item)
    {
        const std::optional<double> clock_ratio = item.optional_number("clock_ratio", kMinClockRatio, kMaxClockRatio);
        const std::optional<double> time_ratio = item.optional_number("time_ratio", 1e-3, 1e3);
        if (item.has("clock_ratio") != item.has("time_ratio"))
            item.fail(item.has("clock_ratio") ? "time_ratio" : "clock_ratio", "both are needed to tell the class");
        if (!clock_ratio || !time_ratio) return std::nullopt;
        return ClockTimings{*clock_ratio, *time_ratio};
    }

    /// The class as stated, by measured intensity or by timings.
    KernelClass found_class(ObjectReader& item, const std::string& id)
    {
        IntensityEvidence evidence;
        if (item.has("class")) evidence.stated = class_of(item, "class");
        evidence.operations = item.optional_number("operations", 1e-9, kMaxInstructions);
        evidence.memory_bytes = item.optional_number("memory_bytes", 1e-9, kMaxInstructions);
        evidence.device_balance = device_balance_;
        evidence.timings = timings_of(item);
        if (item.has("operations") != item.has("memory_bytes"))
            item.fail(item.has("operations") ? "memory_bytes" : "operations", "both are needed to tell the class");
        if (item.has("operations") && !device_balance_)
            item.fail("operations", "device_balance is needed to tell the class");
        const Result<ClassFinding> finding = classify_kernel(evidence);
        if (!finding) return KernelClass::kUnknown; // reported above
        question_.classes.push_back({id, *finding});
        return finding->kernel_class;
    }

    void read_running(ObjectReader& item)
    {
        RunningKernel& kernel = question_.state.running.emplace_back();
        kernel.id = item.required_string("id", kName);
        kernel.kind = item.required_string("kind", kName);
        kernel.kernel_class = found_class(item, kernel.id);
        kernel.weight = item.optional_number("weight", kMinWeight, kMaxWeight).value_or(1);
        kernel.instructions = instructions_of(item, kernel);
        kernel.instructions_done = item.required_number("instructions_done", 0, kMaxInstructions);
        kernel.ipc = item.required_number("ipc", kMinIpc, kMaxIpc);
        kernel.ipc_alone = item.required_number("ipc_alone", kMinIpc, kMaxIpc);
        kernel.l2_miss_rate = item.required_number("l2_miss_rate", 0, 1);
        kernel.register_bytes = item.required_number("register_bytes", 0, kMaxBytes);
        kernel.shared_bytes = item.required_number("shared_bytes", 0, kMaxBytes);
        kernel.thread_blocks = item.required_number("thread_blocks", 0, kMaxThreadBlocks);
        kernel.preempt_cycles = item.optional_number("preempt_cycles", 0, kMaxInstructions);
    }

    /// As given, else predicted from application and input size.
    double instructions_of(ObjectReader& item, const RunningKernel& kernel)
    {
        const std::optional<double> given = item.optional_number("instructions", 1e-9, kMaxInstructions);
        const std::string application = item.optional_string("application", kName).value_or("");
        const std::optional<double> input_size = item.optional_number("input_size", 1 / kMaxInputSize, kMaxInputSize);
        if (given) return *given;
        if (application.empty() || !input_size) {
            if (!item.has("instructions"))
                item.fail("instructions", "is required, or application and input_size to predict it from runs");
            return 1;
        }
        const Result<InstructionPrediction> predicted = model_.predict(application, kernel.kind, *input_size);
        if (!predicted) {
            item.fail("instructions", "cannot be predicted: " + predicted.error().detail);
            return 1;
        }
        question_.predicted.push_back({kernel.id, *predicted});
        return predicted->instructions;
    }

    void read_waiting(ObjectReader& item)
    {
        WaitingKernel& kernel = question_.state.waiting.emplace_back();
        kernel.id = item.required_string("id", kName);
        kernel.kind = item.required_string("kind", kName);
        kernel.kernel_class = found_class(item, kernel.id);
        kernel.weight = item.optional_number("weight", kMinWeight, kMaxWeight).value_or(1);
        kernel.was_preempted = item.optional_boolean("was_preempted").value_or(false);
        kernel.order = item.optional_integer("order", 0, 1'000'000'000'000'000).value_or(0);
    }

    std::vector<FieldError> errors_;
    ObjectReader reader_;
    CorunQuestion question_;
    InstructionModel model_;
    std::optional<double> device_balance_;
};

} // namespace

Result<CorunQuestion> parse_corun_question(const Json& json)
{
    return QuestionReader(json).read();
}

} // namespace fathom
