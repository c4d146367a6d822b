#include "cli/jobs/explain.hpp"
#include "core/decide/routing/decision_json.hpp"

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

  Start:       at once
  Run:         12.1 s (80 %: 12.0–12.2 s)
  Basis:       the named operators only: what else the program does is known after the first run of its type
  Completion:  after 12.1 s

Candidates, best first
  #  CENTER  UNIT TYPE  UNITS  PREDICTED RUN     INTERVAL  WAIT  COMPLETION  BASIS              OUTCOME
  1  alpha   core           1         12.1 s  12.0–12.2 s   0 s      12.1 s  measured           chosen
  2  delta   core           1         17.1 s  16.9–17.2 s   0 s      17.1 s  measured           would complete 5 s later (wait 0 s, run 17.1 s)
  3  beta    core           1       ≥ 20.1 s  19.9–20.2 s   0 s    ≥ 20.1 s  measured, unknown  not all of the job's operators are measured there

Not possible (3 of 4 unit types can run it)
  CENTER  UNIT TYPE  RULED OUT BY  REASON
  gamma   core       operators     cannot run fft3d

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

TEST(Explain, SaysWhichShareOfTheJobIsNotMeasuredBecauseThereIsTooMuchOfIt)
{
    const Json job{{"id", "job_1"}, {"name", "scf"}, {"state", "queued"}};
    const Json placement{{"decision", decision()}};
    Json work{{"unlisted", {{"count", 2}, {"share", 0.01}}}, {"unprobed", {{"count", 48}, {"share", nullptr}}}};

    const std::string text = render_explanation(job, placement, work, kNow, {});

    EXPECT_NE(text.find(R"(
Not measured: predicted from other sizes of these operators, else as the rest of the run
  Not listed:  2, 1.0 % of its time: a job has at most 64 operators
  Not probed:  48: a probe task measures at most 16 operators
)"),
              std::string::npos)
        << text;
    work["unlisted"]["count"] = work["unprobed"]["count"] = 0;
    EXPECT_EQ(render_explanation(job, placement, work, kNow, {}),
              render_explanation(job, placement, nullptr, kNow, {}));
}

TEST(Explain, SaysHowMuchLoopsOfTheProgramsOwnAreLikeOperators)
{
    const Json job{{"id", "job_1"}, {"name", "scf"}, {"state", "succeeded"}};
    const Json placement{{"decision", decision()}};
    const Json work = Json::parse(R"({"remainder": {"memory": 0.3, "code": {"loops": [
        {"file": "solver", "offset": 6024, "share": 0.31, "operator": "spmv", "similarity": 0.91},
        {"file": "solver", "offset": 80, "share": 0.12, "operator": "sort", "similarity": 0.7},
        {"file": "libown.so", "offset": 16, "share": 0.02, "operator": null, "similarity": 0.4}]}}})");

    const std::string text = render_explanation(job, placement, work, kNow, {});

    EXPECT_NE(text.find(R"(
Its own loops: each goes as the operator that it is like, the less alike the less surely
  OWN LOOP         SHARE  IT IS
  solver+0x1788   31.0 %  much like spmv (91.0 %)
  solver+0x50     12.0 %  somewhat like sort (70.0 %)
  libown.so+0x10   2.0 %  no operator
)"),
              std::string::npos)
        << text;
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

    EXPECT_EQ(render_explanation(job, placement, nullptr, kNow, {}), R"(Job scf (job_1) has succeeded.
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
    const std::string text = render_explanation(job, {{"decision", decision()}}, nullptr, kNow, {});

    EXPECT_TRUE(text.starts_with("Job scf (job_1) is queued; it would go to alpha/core on 1 unit.\n"
                                 "Now: no unit is free\n"))
        << text;
    EXPECT_TRUE(text.ends_with("\nNot placed yet: this is what would be decided now.\n")) << text;
}

TEST(Explain, SaysWhatItCostsWhatWouldChangeItAndWhyItWaits)
{
    Json priced = decision();
    Json& winner = priced["candidates"][0];
    winner["cost"] = {{"amount", "0.12"}, {"currency", "EUR"}};
    winner["energy_j"] = 1234;
    winner["correction"] = {{"raw_prediction_s", 11.5}, {"factor", 1.05}, {"job_count", 12}, {"like_count", 40}};
    priced["counterfactuals"] = {{{"text", "delta/core would win if its queue were 12 min shorter"}}};
    const Json waiting{
        {"reasons",
         {{{"kind", "units"}, {"text", "a unit of alpha/core, free in about 3 min"}},
          {{"kind", "priority_rank"}, {"text", "2 jobs are ahead of it"}}}},
        {"expected_start",
         {{"at", "2026-11-20T11:07:14Z"}, {"low", "2026-11-20T11:06:54Z"}, {"high", "2026-11-20T11:09:00Z"}}}};
    const Json job{{"id", "job_1"}, {"name", "scf"}, {"state", "queued"}};

    const std::string text = render_explanation(job, {{"decision", priced}, {"waiting", waiting}}, nullptr, kNow, {});

    for (const char* part :
         {"\nWhy it waits\n  1. a unit of alpha/core, free in about 3 min\n  2. 2 jobs are ahead of it\n"
          "Expected start: in 3 min (2026-11-20 11:07:14 UTC); 80 %: 2026-11-20 11:06:54 UTC to 2026-11-20 11:09:00 "
          "UTC\n",
          "  Cost:        0.12 EUR\n  Energy:      1.23 kJ\n"
          "  Corrected:   × 1.05 of the 11.5 s of computing that measurements predict, by 12 runs of its type there "
          "and "
          "40 others\n",
          "COMPLETION      COST   ENERGY  BASIS",
          "\nWhat would change it\n  - delta/core would win if its queue were 12 min shorter\n"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

TEST(Explain, SaysItsRankWhereJobsWereDecidedTogether)
{
    Json together = decision();
    together["rank_text"] = "no. 2 of 40 waiting jobs that were decided together, by advantage";

    EXPECT_NE(render_decision(together, kNow, {}).find("\nRank: no. 2 of 40 waiting jobs"), std::string::npos);
    EXPECT_EQ(render_decision(decision(), kNow, {}).find("Rank:"), std::string::npos);
}

TEST(Explain, ShowsEightOfManyAndSaysHowManyMore)
{
    Json many = decision();
    for (int i = 0; i < 20; ++i)
        many["candidates"].insert(many["candidates"].begin() + 1, many["candidates"][1]);
    const std::string text = render_decision(many, kNow, {});

    EXPECT_NE(text.find("\n  8  "), std::string::npos) << text;
    EXPECT_EQ(text.find("\n  9  "), std::string::npos) << text;
    EXPECT_NE(text.find("  and 15 more\n"), std::string::npos) << text;
}

TEST(Explain, ComparesAPlaceWithWhatItWouldBe)
{
    Json after = decision();
    after["winner"] = 1U;

    EXPECT_EQ(render_comparison(decision(), after, {}), R"(It would go to delta/core instead of alpha/core.

              NOW         WHAT-IF
  place       alpha/core  delta/core
  units       1           1
  start       at once     at once
  run         12.1 s      17.1 s
  completion  12.1 s      17.1 s
)");
    EXPECT_EQ(render_comparison(decision(), Json(), {}).substr(0, 27), "Nothing could run it then.\n");
}

TEST(Explain, SurvivesAnswersOfAnotherShape)
{
    EXPECT_EQ(render_decision(Json(), kNow, {}), "No center can run it.\n");
    const Json odd{{"winner", 7}, {"candidates", {1, "x", {{"feasible", true}}}}, {"assumptions", {3}}};
    EXPECT_NE(render_decision(odd, kNow, {}).find("No center can run it."), std::string::npos);
}

} // namespace
} // namespace fathom::cli
