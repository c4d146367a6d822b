#include "server/jobs/attempt_output_store.hpp"
#include "server/jobs/attempt_words.hpp"
#include "tests/server/jobs/attempts_fixture.hpp"

namespace fathom::server {
namespace {

TEST(AttemptWords, SayHowAJobEnded)
{
    AttemptEnd end;
    end.outcome = AttemptOutcome::kSignalled;
    end.signal = 9;
    EXPECT_EQ(ending_of(end, 60).reason, "killed by signal 9 (SIGKILL)");
    end.detail = "out of memory: the limit is 1000000 bytes";
    EXPECT_EQ(ending_of(end, 60).reason, "killed by signal 9 (SIGKILL): out of memory: the limit is 1000000 bytes");
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 0;
    end.detail = "some output could not be stored at the center";
    EXPECT_EQ(ending_of(end, 60).reason, "exit code 0: some output could not be stored at the center");
    end.outcome = AttemptOutcome::kWallLimit;
    EXPECT_EQ(ending_of(end, 60).reason, "stopped at its wall-time limit of 60 s");
    end.outcome = AttemptOutcome::kFailedToStart;
    end.detail = "no such file";
    EXPECT_EQ(ending_of(end, 60).reason, "could not be started: no such file");
    end.outcome = AttemptOutcome::kCancelled;
    EXPECT_EQ(ending_of(end, 60).state, JobState::kCancelled);
}

TEST(AttemptWords, SayHowMuchMemoryThereWasAndWhatHelps)
{
    const std::string help = "; ask for units with more memory (units.memory_bytes), or for more units";
    AttemptEnd end;
    end.outcome = AttemptOutcome::kOutOfMemory;
    end.signal = 9;
    EXPECT_EQ(ending_of(end, 60).state, JobState::kFailed);
    EXPECT_EQ(ending_of(end, 60).reason, "out of memory" + help);
    end.detail = "out of memory: the limit is 67108864 bytes";
    end.max_resident_bytes = 66'000'000;
    EXPECT_EQ(ending_of(end, 60).reason,
              "out of memory: the limit is 67108864 bytes; its largest process had 66 MB" + help);
    end.detail = "what the job left of itself could not be kept";
    end.max_resident_bytes = 0;
    EXPECT_EQ(ending_of(end, 60).reason, "out of memory: what the job left of itself could not be kept" + help);
}

} // namespace
} // namespace fathom::server
