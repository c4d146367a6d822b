// Uploaded operators in real sandboxes: bubblewrap, resource limits and seccomp. The operators are those of
// probes/upload/examples.

#include "core/base/file.hpp"
#include "core/model/operator_package.hpp"
#include "core/model/probe_result.hpp"
#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

const std::string kSources = FATHOM_UPLOAD_SOURCES;
const std::string kObjects = FATHOM_UPLOAD_OBJECTS;

constexpr const char* kRootsTask =
    R"({"name": "roots", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002,
    "operators": [{"id": "roots"}]})";
constexpr const char* kMixedTask =
    R"({"name": "mixed", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002, "operators": [
    {"id": "dense_lu", "parameters": {"n": 96}, "label": "solve"},
    {"id": "dgemm", "parameters": {"m": 32, "n": 32, "k": 32}, "inputs": ["solve"]}]})";

OperatorManifest manifest_of(const std::string& example)
{
    return parse_operator_manifest(parse_json(read_file(kSources + "/" + example + "/manifest.json").value()).value())
        .value();
}

class Upload : public ProbeProgram {
  protected:
    /// Tries an example as its author would, without a signature.
    Outcome try_unsigned(const std::string& example, const std::string& object, const std::string& task,
                         const std::vector<std::string>& environment = {}) const
    {
        return run(unsigned_arguments(kSources + "/" + example + "/manifest.json", object, task), environment);
    }

    std::vector<std::string> unsigned_arguments(const std::string& manifest, const std::string& object,
                                                const std::string& task) const
    {
        return {"--task", write("task.json", task), "--unsigned",           "--operator-manifest",
                manifest, "--operator-object",      kObjects + "/" + object};
    }

    /// A signed dense_lu as a file.
    std::string write_package(const KeyPair& keys) const
    {
        return write("operator-dense_lu.json", to_json(package(keys)).dump());
    }
    static OperatorPackage package(const KeyPair& keys)
    {
        return sign_operator(manifest_of("dense_lu"), read_file(kObjects + "/dense_lu.so").value(), keys.private_pem)
            .value();
    }

    static ProbeResult result_of(const Outcome& outcome)
    {
        return parse_probe_result(parse_json(outcome.out).value()).value();
    }
};

TEST_F(Upload, IsMeasuredBesideABuiltInOperatorAndFeedsIt)
{
    const Outcome outcome = try_unsigned("dense_lu", "dense_lu.so", kMixedTask);

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const ProbeResult result = result_of(outcome);
    ASSERT_EQ(result.operators.size(), 2U);
    EXPECT_EQ(result.operators[0].id, "dense_lu");
    EXPECT_EQ(result.operators[0].library, "dense_lu 1.0 (uploaded)");
    EXPECT_LE(result.operators[0].error, 1e-11);
    EXPECT_EQ(result.operators[0].samples_s.size(), 3U);
    EXPECT_THAT(result.operators[0].checksum, MatchesRegex("[0-9a-f]{16}"));
    EXPECT_LE(result.operators[1].error, result.operators[1].tolerance);
}

TEST_F(Upload, GivesTheSameChecksumEveryTime)
{
    const ProbeResult one = result_of(try_unsigned("dense_lu", "dense_lu.so", kMixedTask));
    const ProbeResult two = result_of(try_unsigned("dense_lu", "dense_lu.so", kMixedTask, {"FATHOM_CORES=1"}));

    EXPECT_EQ(one.operators[0].checksum, two.operators[0].checksum);
}

TEST_F(Upload, RunsForAnOrdinaryUser)
{
    as_nobody_ = true;
    program_ = folder_ + "/fathom-probe"; // the build's folder may be closed to that user
    for (const char* const name : {"fathom-probe", "fathom-operator-host"})
        std::filesystem::copy(std::filesystem::path(FATHOM_PROBE).parent_path() / name, folder_ + "/" + name);
    std::filesystem::copy(kObjects + "/dense_lu.so", folder_ + "/dense_lu.so");
    const std::string manifest = write("manifest.json", to_json(manifest_of("dense_lu")).dump());

    const Outcome outcome = run({"--task", write("task.json", kMixedTask), "--unsigned", "--operator-manifest",
                                 manifest, "--operator-object", folder_ + "/dense_lu.so"});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(Upload, IsNotRunWithoutASandbox)
{
    program_ = folder_ + "/fathom-probe";
    std::filesystem::copy(FATHOM_PROBE, program_); // without fathom-operator-host

    const Outcome outcome = try_unsigned("dense_lu", "dense_lu.so", kMixedTask);
    const Outcome check = run({"--check-sandbox"});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("uploaded operators are not run without one: cannot open fathom-operator-host"));
    EXPECT_EQ(check.exit_code, 1);
    program_ = FATHOM_PROBE;
    EXPECT_EQ(run({"--check-sandbox"}).exit_code, 0);
}

TEST_F(Upload, ASignedPackageRunsWithATrustedKey)
{
    const KeyPair keys = new_key_pair().value();
    const std::string package = write_package(keys);
    const std::string trusted = write("keys.pem", new_key_pair()->public_pem + keys.public_pem);
    const std::string task = write("task.json", kMixedTask);

    const Outcome by_option = run({"--task", task, "--operator", package, "--operator-keys", trusted});
    const Outcome by_environment = run({"--task", task, "--operator", package}, {"FATHOM_OPERATOR_KEYS=" + trusted});

    EXPECT_EQ(by_option.exit_code, 0) << by_option.err;
    EXPECT_EQ(by_environment.exit_code, 0) << by_environment.err;
}

TEST_F(Upload, APackageIsRefusedUnlessATrustedKeySignedExactlyIt)
{
    const KeyPair keys = new_key_pair().value();
    const std::string trusted = write("keys.pem", keys.public_pem);
    const std::string others = write("others.pem", new_key_pair()->public_pem);
    OperatorPackage changed = package(keys);
    changed.manifest.sandbox.network = true;
    const std::string changed_package = write("operator-changed.json", to_json(changed).dump());
    const std::string good_package = write_package(keys);
    const std::string task = write("task.json", kMixedTask);

    const Outcome untrusted = run({"--task", task, "--operator", good_package, "--operator-keys", others});
    const Outcome no_keys = run({"--task", task, "--operator", good_package});
    const Outcome tampered = run({"--task", task, "--operator", changed_package, "--operator-keys", trusted});
    const Outcome no_package = run({"--task", task, "--operator", task, "--operator-keys", trusted});
    const Outcome twice =
        run({"--task", task, "--operator", good_package, "--operator", good_package, "--operator-keys", trusted});

    EXPECT_EQ(untrusted.exit_code, 2);
    EXPECT_THAT(untrusted.err, HasSubstr("which is not among the trusted keys"));
    EXPECT_EQ(no_keys.exit_code, 2);
    EXPECT_THAT(no_keys.err, HasSubstr("FATHOM_OPERATOR_KEYS"));
    EXPECT_EQ(tampered.exit_code, 2);
    EXPECT_THAT(tampered.err, HasSubstr("was changed after it was signed"));
    EXPECT_EQ(no_package.exit_code, 2);
    EXPECT_THAT(no_package.err, HasSubstr("object_base64: is required"));
    EXPECT_EQ(twice.exit_code, 2);
    EXPECT_THAT(twice.err, HasSubstr("was given twice"));
}

TEST_F(Upload, AnOperatorThatDidNotComeWithTheTaskIsNamed)
{
    const Outcome outcome = run_task(kMixedTask);

    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("there is no operator \"dense_lu\" here"));
}

TEST_F(Upload, AnExpertsOwnOperatorNeedsTheWordUnsigned)
{
    std::vector<std::string> arguments =
        unsigned_arguments(kSources + "/dense_lu/manifest.json", "dense_lu.so", kMixedTask);
    std::erase(arguments, "--unsigned");

    EXPECT_EQ(run(arguments).exit_code, 2);
}

TEST_F(Upload, MoreOperationsThanTheProcessorCanDoAreALie)
{
    OperatorManifest manifest = manifest_of("misbehaving");
    manifest.operation_count = "1000000000*n";

    const Outcome outcome = run(unsigned_arguments(write("manifest.json", to_json(manifest).dump()),
                                                   "misbehaving_CLAIM_TOO_MUCH.so", kRootsTask));

    EXPECT_EQ(outcome.exit_code, 5);
    EXPECT_THAT(outcome.err, HasSubstr("GFLOP/s, more than the"));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(Upload, MoreMemoryThanTheManifestAllowsIsRefusedBeforehand)
{
    const Outcome outcome = try_unsigned("misbehaving", "misbehaving_NOTHING.so", R"({"name": "t", "operators": [
        {"id": "roots"}]})");
    OperatorManifest small = manifest_of("misbehaving");
    small.sandbox.memory_bytes = 1 << 20;
    const Outcome too_large = run(unsigned_arguments(write("manifest.json", to_json(small).dump()),
                                                     "misbehaving_NOTHING.so", R"({"name": "t", "operators": [
        {"id": "roots", "parameters": {"n": 1000000}}]})"));

    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(too_large.exit_code, 5);
    EXPECT_THAT(too_large.err, HasSubstr("needs 16.0 MB for this size, its manifest allows 1.0 MB"));
}

TEST_F(Upload, NetworkIsThereOnlyWhenTheManifestAsksForIt)
{
    OperatorManifest manifest = manifest_of("misbehaving");
    manifest.sandbox.network = true;

    const Outcome with = run(
        unsigned_arguments(write("manifest.json", to_json(manifest).dump()), "misbehaving_OPEN_SOCKET.so", kRootsTask));

    EXPECT_EQ(with.exit_code, 0) << with.err;
}

/// Processes below `ancestor`, by their numbers.
std::vector<pid_t> descendants_of(pid_t ancestor)
{
    std::vector<pid_t> found{ancestor};
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            std::ifstream file(entry.path() / "stat");
            std::string line;
            std::getline(file, line);
            const std::size_t name_end = line.rfind(')');
            if (name_end == std::string::npos) continue;
            if (std::stoi(line.substr(name_end + 4)) == found[i]) found.push_back(std::stoi(name));
        }
    }
    found.erase(found.begin());
    return found;
}

TEST_F(Upload, NothingOfItOutlivesAProbeThatIsKilled)
{
    const pid_t child = start(unsigned_arguments(kSources + "/misbehaving/manifest.json",
                                                 "misbehaving_HANG_IN_EXECUTE.so", R"({"name": "t", "limit_s": 600,
        "operators": [{"id": "roots"}]})"));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    std::vector<pid_t> sandbox;
    while (sandbox.size() < 3 && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        sandbox = descendants_of(child);
    }
    ASSERT_EQ(sandbox.size(), 3U); // bubblewrap, its first process inside, and the host

    kill(child, SIGKILL);
    wait(child);

    const auto all_gone = [&] {
        return std::none_of(sandbox.begin(), sandbox.end(), [](pid_t pid) { return kill(pid, 0) == 0; });
    };
    while (!all_gone() && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(all_gone());
}

std::string short_roots_task(int limit_s)
{
    return R"({"name": "roots", "repeats": 3, "target_interval": 0, "limit_s": )" + std::to_string(limit_s) +
           R"(, "min_sample_s": 0.002, "operators": [{"id": "roots"}]})";
}

struct Misbehaviour {
    const char* name;
    int exit_code;
    const char* reason; ///< part of the last line on standard error
};

class MisbehavingUpload : public Upload, public testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingUpload, EndsTheProbeWithItsReason)
{
    const std::string name = GetParam().name;
    const bool hangs = name.starts_with("HANG");
    Outcome outcome =
        try_unsigned("misbehaving", "misbehaving_" + name + ".so", hangs ? short_roots_task(2) : kRootsTask);
    // Where the machine is so slow that the time is over before it hangs.
    if (hangs && outcome.err.find(GetParam().reason) == std::string::npos)
        outcome = try_unsigned("misbehaving", "misbehaving_" + name + ".so", short_roots_task(30));

    EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
    const std::size_t last_line = outcome.err.rfind('\n', outcome.err.size() - 2) + 1;
    EXPECT_THAT(outcome.err.substr(last_line), HasSubstr("roots(n=1000): "));
    EXPECT_THAT(outcome.err.substr(last_line), HasSubstr(GetParam().reason));
    EXPECT_EQ(outcome.out, "");
}

constexpr Misbehaviour kMisbehaviours[] = {
    {"CRASH_IN_EXECUTE", 5, "the uploaded code crashed: signal 11 (SIGSEGV) while executing"},
    {"CRASH_WHEN_LOADED", 5, "the uploaded code crashed: signal 11 (SIGSEGV) while being loaded"},
    {"HANG_IN_EXECUTE", 5, "no answer within"},
    {"HANG_IN_PREPARE", 5, "while preparing"},
    {"TRUE_WITHOUT_LOOKING", 5, "lies: error() finds 0 (tolerance 1e-14) after one element"},
    {"CONSTANT_RESULT", 5, "lies: other inputs give the same result"},
    {"COMPUTE_NOTHING", 5, "lies: execute() left 1000 of 1000 elements"},
    {"HALF_A_RESULT", 5, "the uploaded code lies"},
    {"DIFFERENT_EACH_TIME", 5, "lies: the same inputs give another result"},
    {"HOG_MEMORY", 5, "ran out of memory while executing"},
    {"HOG_MEMORY_UNCHECKED", 5, "crashed: signal 11 (SIGSEGV) while executing"},
    {"OPEN_SOCKET", 5, "made a forbidden system call while executing: socket"},
    {"START_PROGRAM", 5, "made a forbidden system call while executing: execve"},
    {"FORK_BOMB", 5, "made a forbidden system call while executing: "},
    {"READ_HOST_FILES", 1, "/etc/passwd: No such file"},
    {"WRITE_OUTSIDE", 1, "/written: Read-only file system"},
    {"ANSWER_BY_ITSELF", 5, "answered nonsense"},
    {"CLOSE_EVERYTHING", 5, "ended its process"},
    {"LEAVE", 5, "ended its process with exit code 7"},
    {"WRONG_ABI", 5, "it was built for version 99 of the operator interface"},
    {"WRONG_ID", 5, "it says that it is operator \"other\", its manifest says \"roots\""},
    {"HUGE_RESULT", 5, "larger than the memory that it needs"},
    {"LARGER_RESULT_THAN_SAID", 5, "larger than the memory that it needs"},
    {"SEMAPHORES", 1, "semget: Function not implemented"},
    {"KERNEL_QUEUE", 1, "io_setup: Function not implemented"},
    {"CALL_OF_TOMORROW", 5, "made a forbidden system call while executing: number 1000"},
    {"CONTROL_TERMINAL", 5, "made a forbidden system call while executing: ioctl"},
    {"REFUSE_SIZE", 1, "failed while being loaded: not this size"},
};

INSTANTIATE_TEST_SUITE_P(Examples, MisbehavingUpload, testing::ValuesIn(kMisbehaviours),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(Upload, AResultThatTheOperatorItselfFindsWrongIsReportedAsAnyWrongResult)
{
    const Outcome outcome = try_unsigned("misbehaving", "misbehaving_WRONG_RESULT.so", kRootsTask);

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(result_of(outcome).operators[0].error, 0.25);
    EXPECT_EQ(result_of(outcome).operators[0].library, "roots 1.0 (uploaded)");
}

} // namespace
} // namespace fathom
