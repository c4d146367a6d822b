#include "simulator/knowledge/job_errors.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/knowledge/knowledge_draws.hpp"
#include "simulator/world/keyed_draw.hpp"

namespace fathom::simulation {

double JobErrors::factor(std::size_t job)
{
    if (!(deviation_ > 0)) return 1;
    if (job != last_job_) {
        last_job_ = job;
        last_factor_ = portable::exp(deviation_ * normal_of(seed_, kJobErrorPurpose, job));
    }
    return last_factor_;
}

} // namespace fathom::simulation
