// What pods' states, as an API server writes them, mean for attempts.

#include "agent/executor/kubernetes/pod_end.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::HasSubstr;

ClusterPod pod_of(const std::string& status)
{
    return read_pod(parse_json(R"({"metadata": {"name": "p", "uid": "u", "labels": {"fathom/attempt": "att_1"}},
                                   "spec": {"nodeName": "n1"}, "status": )" +
                               status + "}")
                        .value());
}

/// A container that ended so, in a pod with these fields, too.
ClusterPod ended_pod(const std::string& terminated, const std::string& fields = "")
{
    return pod_of(R"({"phase": "Failed", )" + fields +
                  R"("containerStatuses": [{"name": "job", "state": {"terminated": {)" + terminated +
                  R"(, "startedAt": "2026-11-24T10:00:00Z", "finishedAt": "2026-11-24T10:00:07Z"}}}]})");
}

Timestamp at(const char* time)
{
    return parse_rfc3339(time).value();
}

/// Of an attempt whose script noted its start.
EndFacts begun(EndAsked asked = EndAsked::kNo)
{
    EndFacts facts;
    facts.asked = asked;
    facts.notes.started_at = at("2026-11-24T10:00:00.5Z");
    facts.now = at("2026-11-24T10:01:00Z");
    return facts;
}

TEST(KubernetesPods, WaitWithTheSchedulersWordsOrTheKubelets)
{
    const ClusterPod unschedulable =
        pod_of(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                   "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu."}]})");
    const ClusterPod no_image = pod_of(R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting":
                   {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\""}}}]})");
    const ClusterPod starting = pod_of(R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting":
                   {"reason": "ContainerCreating"}}}]})");

    EXPECT_EQ(stage_of(unschedulable), PodStage::kWaits);
    EXPECT_EQ(waiting_reason(unschedulable), "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.");
    EXPECT_FALSE(is_held_up(unschedulable));
    EXPECT_EQ(waiting_reason(no_image), "ImagePullBackOff: Back-off pulling image \"x\"");
    EXPECT_TRUE(is_held_up(no_image));
    EXPECT_EQ(waiting_reason(starting), "ContainerCreating");
    EXPECT_FALSE(is_held_up(starting));
    EXPECT_EQ(stage_of(pod_of(R"({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]})")),
              PodStage::kRuns);
}

TEST(KubernetesPodEnds, TellTheExitCodeAndTimesOfTheProgram)
{
    EndFacts facts = begun();
    facts.notes.ended_at = at("2026-11-24T10:00:07.25Z");
    facts.notes.exit_code = 3;
    facts.notes.cpu_s = 1.5;

    const AttemptEnd end = end_of_pod(ended_pod(R"("exitCode": 3, "reason": "Error")"), facts);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_DOUBLE_EQ(end.run_s, 6.75);
    EXPECT_EQ(end.cpu_s, 1.5);
    EXPECT_EQ(end.nodes, "n1");
}

TEST(KubernetesPodEnds, TakeExitCodesAbove128ForSignals)
{
    const AttemptEnd end = end_of_pod(ended_pod(R"("exitCode": 139, "reason": "Error")"), begun());

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled);
    EXPECT_EQ(end.signal, 11);
}

TEST(KubernetesPodEnds, TellALackOfMemoryAndHowMuchThereWas)
{
    EndFacts facts = begun();
    facts.memory_bytes = 1000;

    const AttemptEnd end = end_of_pod(ended_pod(R"("exitCode": 137, "reason": "OOMKilled")"), facts);

    EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(end.detail, "out of memory: Kubernetes killed it on n1; its units have 1000 bytes");
    facts.was_out_of_memory = true; // the kernel killed the program, and not the script
    EXPECT_EQ(end_of_pod(ended_pod(R"("exitCode": 137, "reason": "Error")"), facts).outcome,
              AttemptOutcome::kOutOfMemory);
}

TEST(KubernetesPodEnds, TellDeadlinesEvictionsAndLostNodesApart)
{
    const auto outcome = [](const std::string& reason) {
        return end_of_pod(pod_of(R"({"phase": "Failed", "reason": ")" + reason + R"(", "message": "because"})"),
                          begun())
            .outcome;
    };
    EXPECT_EQ(outcome("DeadlineExceeded"), AttemptOutcome::kWallLimit);
    EXPECT_EQ(outcome("Evicted"), AttemptOutcome::kPreempted);
    EXPECT_EQ(outcome("Preempting"), AttemptOutcome::kPreempted);
    EXPECT_EQ(outcome("NodeLost"), AttemptOutcome::kNodeFailure);
    EXPECT_EQ(outcome("Shutdown"), AttemptOutcome::kNodeFailure);
    EXPECT_EQ(outcome("UnexpectedAdmissionError"), AttemptOutcome::kNodeFailure);
    EXPECT_EQ(outcome("OutOfnvidia.com/gpu"), AttemptOutcome::kNodeFailure);
    EXPECT_EQ(outcome("Unheard"), AttemptOutcome::kLost);
}

TEST(KubernetesPodEnds, TellWhoTookThePodAwayByItsCondition)
{
    const auto disrupted = [](const std::string& reason) {
        return end_of_pod(ended_pod(R"("exitCode": 143, "reason": "Error")",
                                    R"("conditions": [{"type": "DisruptionTarget", "status": "True", "reason": ")" +
                                        reason + R"("}], )"),
                          begun())
            .outcome;
    };
    EXPECT_EQ(disrupted("PreemptionByScheduler"), AttemptOutcome::kPreempted);
    EXPECT_EQ(disrupted("EvictionByEvictionAPI"), AttemptOutcome::kPreempted);
    EXPECT_EQ(disrupted("DeletionByTaintManager"), AttemptOutcome::kNodeFailure);
}

TEST(KubernetesPodEnds, AreAsWeAskedWhereWeKilledTheProgram)
{
    const ClusterPod killed = ended_pod(R"("exitCode": 143, "reason": "Error")");
    EXPECT_EQ(end_of_pod(killed, begun(EndAsked::kCancelled)).outcome, AttemptOutcome::kCancelled);
    EXPECT_EQ(end_of_pod(killed, begun(EndAsked::kWallLimit)).outcome, AttemptOutcome::kWallLimit);
    EXPECT_EQ(end_of_pod(killed, begun()).outcome, AttemptOutcome::kSignalled);
    const ClusterPod done = ended_pod(R"("exitCode": 0, "reason": "Completed")");
    EXPECT_EQ(end_of_pod(done, begun(EndAsked::kCancelled)).exit_code, 0);
    EndFacts never = begun(EndAsked::kNeverStarts);
    never.never_reason = "ErrImagePull: no such image";
    EXPECT_THAT(end_of_gone(std::nullopt, never, "its Job").detail, HasSubstr("ErrImagePull: no such image"));
}

TEST(KubernetesPodEnds, SayThatAProgramDidNotBegin)
{
    EndFacts facts;
    facts.now = at("2026-11-24T10:01:00Z");

    const AttemptEnd no_folder = end_of_pod(ended_pod(R"("exitCode": 2, "reason": "Error")"), facts);
    const AttemptEnd no_shell = end_of_pod(
        ended_pod(R"("exitCode": 128, "reason": "ContainerCannotRun", "message": "exec: \"/bin/sh\": no such file")"),
        begun());

    EXPECT_EQ(no_folder.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_FALSE(no_folder.started_at);
    EXPECT_EQ(no_shell.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(no_shell.detail, HasSubstr("no such file"));
}

TEST(KubernetesPodEnds, AreNotTheCentersFailureWhereAnImageOfTheJobDoesNotBegin)
{
    const ClusterPod no_shell = ended_pod(R"("exitCode": 128, "reason": "StartError", "message": "no such file")");
    const ClusterPod ended = ended_pod(R"("exitCode": 3, "reason": "Error")");
    EndFacts never;
    never.asked = EndAsked::kNeverStarts;
    never.never_reason = "ErrImagePull: no such image";
    EXPECT_EQ(end_of_gone(std::nullopt, never, "its Job").cause, AttemptCause::kNone);
    EXPECT_EQ(end_of_pod(no_shell, EndFacts()).cause, AttemptCause::kNone);

    never.has_own_image = true;
    EndFacts own = begun();
    own.has_own_image = true;
    EXPECT_EQ(end_of_gone(std::nullopt, never, "its Job").cause, AttemptCause::kProgramNotStarted);
    EXPECT_EQ(end_of_pod(no_shell, own).cause, AttemptCause::kProgramNotStarted);
    EXPECT_EQ(end_of_pod(ended, own).cause, AttemptCause::kNone) << "it began";
}

TEST(KubernetesPodEnds, OfPodsThatAreGoneAreTheScriptsOrWhatWasLastSeen)
{
    EndFacts noted = begun();
    noted.notes.ended_at = at("2026-11-24T10:00:03Z");
    noted.notes.exit_code = 4;
    EXPECT_EQ(end_of_gone(std::nullopt, noted, "its Job").exit_code, 4);
    EXPECT_EQ(end_of_gone(std::nullopt, begun(), "its Job").outcome, AttemptOutcome::kLost);
    EXPECT_EQ(end_of_gone(std::nullopt, begun(EndAsked::kCancelled), "its Job").outcome, AttemptOutcome::kCancelled);
    const ClusterPod evicted = pod_of(R"({"phase": "Running", "conditions": [{"type": "DisruptionTarget",
                                           "status": "True", "reason": "PreemptionByScheduler"}]})");
    EXPECT_EQ(end_of_gone(evicted, begun(), "its pod").outcome, AttemptOutcome::kPreempted);
}

TEST(KubernetesObjects, AreReadLeniently)
{
    const Json wrong = parse_json(R"({"metadata": 3, "status": {"containerStatuses": {}, "conditions": "x"}})").value();
    EXPECT_EQ(read_pod(wrong).name, "");
    EXPECT_FALSE(read_node(wrong).is_usable);
    EXPECT_FALSE(read_demand(wrong));
    EXPECT_EQ(read_job(wrong).uid, "");
}

} // namespace
} // namespace fathom::agent
