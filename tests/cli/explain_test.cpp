#include "cli/explain.hpp"
#include "core/decide/route.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = *parse_rfc3339("2026-11-20T11:04:14Z");

MeasuredOperator measured(const std::string& id, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=64";
    one.operations = 1e6;
    one.bytes = 1e5;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.99;
    one.ci_high_s = median_s * 1.02;
    one.start_up_s = 0.05;
    one.probe_run_id = "prn_" + id;
    one.measured_at = kNow - 3min;
    return one;
}

UnitTypeView unit_type(const std::string& center, std::vector<MeasuredOperator> measurements,
                       std::vector<std::string> operators)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = "core";
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.operators = std::move(operators);
    view.unit_count = 1;
    view.availability = Availability(1);
    view.measured = std::move(measurements);
    return view;
}

/// What the server stores: made by the very decision, so that this text follows its JSON.
Json decision()
{
    const std::vector<UnitTypeView> units{
        unit_type("alpha", {measured("dgemm", 0.01), measured("fft3d", 0.1)}, {"dgemm", "fft3d"}),
        unit_type("beta", {measured("dgemm", 0.02)}, {"dgemm", "fft3d"}),
        unit_type("gamma", {measured("dgemm", 0.001)}, {"dgemm"}),
        unit_type("delta", {measured("dgemm", 0.015), measured("fft3d", 0.1)}, {"dgemm", "fft3d"}),
    };
    RouteRequest request;
    request.operators = {{"dgemm", "n=64", 1000, 1e6, 1e5}, {"fft3d", "n=64", 20, 1e6, 1e5}};
    request.units.count = 1;
    return to_json(route(request, units));
}

TEST(Explain, ShowsWhoWonWhoLostAndWhatIsKnown)
{
    const std::string text = render_decision(decision(), kNow, {});

    EXPECT_EQ(text,
              R"(Why: earliest expected completion: wait 0 s, run 12.1 s

Candidates, best first
  #  CENTER  UNIT TYPE  UNITS  PREDICTED RUN     INTERVAL  WAIT  COMPLETION  BASIS              OUTCOME
  1  alpha   core           1         12.1 s  12.0–12.2 s   0 s      12.1 s  measured           chosen
  2  delta   core           1         17.1 s  16.9–17.2 s   0 s      17.1 s  measured           would complete 5 s later (wait 0 s, run 17.1 s)
  3  beta    core           1       ≥ 20.1 s  19.9–20.2 s   0 s    ≥ 20.1 s  measured, unknown  not all of the job's operators are measured there

Not possible
  CENTER  UNIT TYPE  REASON
  gamma   core       cannot run fft3d

Evidence: what the probes measured
  AT          OPERATOR  SIZE  COUNT  TIME EACH   TOTAL     INTERVAL  BASIS      MEASURED  PROBE RUN
  alpha/core  dgemm     n=64   1000    10.0 ms  10.0 s  9.90–10.1 s  measured  3 min ago  prn_dgemm
  alpha/core  fft3d     n=64     20     100 ms  2.00 s  1.98–2.02 s  measured  3 min ago  prn_fft3d
  delta/core  dgemm     n=64   1000    15.0 ms  15.0 s  14.9–15.1 s  measured  3 min ago  prn_dgemm
  delta/core  fft3d     n=64     20     100 ms  2.00 s  1.98–2.02 s  measured  3 min ago  prn_fft3d
  beta/core   dgemm     n=64   1000    20.0 ms  20.0 s  19.8–20.2 s  measured  3 min ago  prn_dgemm
  beta/core   fft3d     n=64     20          -       -            -  unknown           -  -
)");
}

TEST(Explain, SetsPredictedAgainstActualOnceTheJobHasEnded)
{
    const Json job{{"id", "job_1"},
                   {"name", "scf"},
                   {"state", "succeeded"},
                   {"attempt", {{"center", "alpha"}, {"unit_type", "core"}, {"unit_count", 1}}},
                   {"predicted", {{"run_s", 12.05}, {"low_s", 11.9}, {"high_s", 12.3}, {"wait_s", 0}}}};
    const Json placement{{"decision", Json()},
                         {"decided_at", "2026-11-20T10:54:14Z"},
                         {"decided_by", "rep_1"},
                         {"actual", {{"run_s", 12.65}, {"wait_s", 0.2}, {"predicted_run_s", 12.05}}}};

    EXPECT_EQ(render_explanation(job, placement, kNow, {}), R"(Job scf (job_1) has succeeded.
No decision is stored for it.

Predicted against actual
        PREDICTED     INTERVAL  ACTUAL    DIFFERENCE
  run      12.1 s  11.9–12.3 s  12.7 s  5.0 % longer
  wait        0 s            -  200 ms             -

Decided 10 min ago (2026-11-20 10:54:14 UTC) by rep_1.
)");
}

TEST(Explain, SaysWhatWouldBeDecidedForAJobThatWaits)
{
    const Json job{{"id", "job_1"}, {"name", "scf"}, {"state", "queued"}, {"waiting_reason", "no unit is free"}};
    const std::string text = render_explanation(job, {{"decision", decision()}}, kNow, {});

    EXPECT_TRUE(text.starts_with("Job scf (job_1) is queued; it would go to alpha/core on 1 unit.\n"
                                 "Waits: no unit is free\n"))
        << text;
    EXPECT_TRUE(text.ends_with("\nNot placed yet: this is what would be decided now.\n")) << text;
}

TEST(Explain, SurvivesAnswersOfAnotherShape)
{
    EXPECT_EQ(render_decision(Json(), kNow, {}), "No center can run it.\n");
    const Json odd{{"winner", 7}, {"candidates", {1, "x", {{"feasible", true}}}}, {"assumptions", {3}}};
    EXPECT_NE(render_decision(odd, kNow, {}).find("No center can run it."), std::string::npos);
}

} // namespace
} // namespace fathom::cli
