#pragma once

#include "tests/agent/support/agent_link.hpp"

#include <filesystem>
#include <string>

namespace fathom::agent::test {

/// A real agent on a machine with GPUs: NVIDIA's libraries and the operators on GPUs are stand-ins, and strict.
class GpuLink : public AgentLink {
  protected:
    /// `gpus`: what the machine has (tests/support/standin_gpu/nvml.cpp); `tables`: of the config file, after
    /// `[environment]`.
    GpuLink(const std::string& gpus, const std::string& tables);
    ~GpuLink() override;

    void describe_gpus(const std::string& lines) const;
    /// How the attempt ended.
    AttemptEnd end_of(const AttemptId& id) const;
    /// What it wrote to its standard output until then.
    std::string output_of(const AttemptEnd& end) const;
    /// What an order writes to its standard output; it must succeed.
    std::string run(AttemptOrder order, const std::string& unit_type);
    /// Where fathom-probe lies, and what jobs may read.
    const std::filesystem::path& programs() const { return folder_.path(); }
    /// The books that the stand-in for the driver keeps of each card, for the programs of all jobs.
    const std::filesystem::path& cards() const { return cards_.path(); }

  private:
    std::filesystem::path gpus() const { return folder_.path() / "gpus"; }

    TemporaryFolder folder_;
    TemporaryFolder cards_; ///< where the programs are, jobs of the agent's user cannot write
};

} // namespace fathom::agent::test
