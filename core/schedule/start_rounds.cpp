#include "core/schedule/start_rounds.hpp"

#include "core/schedule/job_options.hpp"

namespace fathom {

void start_in_rounds(StartRounds& rounds)
{
    for (int looks = 0;;) {
        const StartRounds::Round round = rounds.start_next();
        if (round == StartRounds::Round::kRefused) continue;
        if (round == StartRounds::Round::kStarted && looks++ < kMaxLooksAgain && rounds.look_again()) continue;
        if (!rounds.drop_places()) return;
    }
}

} // namespace fathom
