#include "core/decide/probing/cron.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever schedule is asked for, parse_cron() reads one that has a next moment, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::CronSchedule> schedule = fathom::parse_cron(fathom::fuzz::text_of(data, size));
    if (!schedule) {
        FATHOM_ASSERT(schedule.error().code == fathom::Errc::kInvalid);
        return 0;
    }
    const fathom::Timestamp now{std::chrono::sys_days{std::chrono::November / 20 / 2026}};
    const fathom::Timestamp next = fathom::next_time(*schedule, now);
    FATHOM_ASSERT(next > now && next <= now + std::chrono::days{400 * 366});
    FATHOM_ASSERT(fathom::next_time(*schedule, next - std::chrono::microseconds{1}) == next);
    return 0;
}
