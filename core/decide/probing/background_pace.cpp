#include "core/decide/probing/background_pace.hpp"

#include <algorithm>

namespace fathom {

bool BackgroundPace::next(const ProcessorLook& look)
{
    const double idle_s = kIdleShare * look.elapsed_s;
    if (may_run_) {
        const bool is_known = look.own_processor < look.busy_s.size();
        const double others_s = is_known ? look.busy_s[look.own_processor] - look.own_s : 0;
        if (others_s <= idle_s) return true;
        may_run_ = false;
        pause_s_ = kPause * look.own_s;
        stood_s_ = 0;
        return false;
    }
    pause_s_ = std::max(pause_s_ - look.elapsed_s, 0.0);
    stood_s_ += look.elapsed_s;
    const bool has_waited_long = stood_s_ >= kPause * look.elapsed_s;
    const bool is_one_idle =
        std::any_of(look.busy_s.begin(), look.busy_s.end(), [=](double busy_s) { return busy_s <= idle_s; });
    may_run_ = pause_s_ <= 0 && (is_one_idle || has_waited_long);
    return may_run_;
}

} // namespace fathom
