#include "cli/simulate/job_log.hpp"

#include "cli/simulate/csv_table.hpp"

#include <fmt/format.h>

#include <array>

namespace fathom {

Result<JobLog> read_job_log(std::istream& input)
{
    enum Column : std::size_t { kSubmit, kRun, kProcessors, kProgram, kCount };
    const Result<CsvTable> table = CsvTable::read(input, {"submit_s", "run_s", "procs", "executable"});
    if (!table) return table.error();
    JobLog log;
    for (std::size_t row = 0; row < table->size(); ++row) {
        std::array<double, kCount> fields{};
        for (std::size_t column = 0; column < kCount; ++column) {
            const Result<double> number = table->number(row, column);
            if (!number) return number.error();
            fields[column] = *number;
        }
        const LoggedJob job{fields[kSubmit], fields[kRun], static_cast<std::int64_t>(fields[kProcessors]),
                            static_cast<std::int64_t>(fields[kProgram])};
        if (!log.jobs.empty() && job.submit_s < log.jobs.back().submit_s) {
            return Error{Errc::kInvalid,
                         fmt::format("job {} of the log was submitted before the one ahead of it", row + 1)};
        }
        if (job.run_s > 0 && job.processors > 0)
            log.jobs.push_back(job);
        else
            ++log.never_ran;
    }
    return log;
}

} // namespace fathom
