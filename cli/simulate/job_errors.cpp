#include "cli/simulate/job_errors.hpp"

#include "cli/simulate/knowledge_draws.hpp"
#include "cli/simulate/truth.hpp"
#include "core/base/portable_math.hpp"

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
