#pragma once

#include "core/base/json_reader.hpp"

#include <string>
#include <vector>

namespace fathom {

/// What a job needs of its center's software beside the machines (job.yaml `modules`, `container`).
struct JobSoftware {
    std::vector<std::string> modules; ///< environment modules, loaded in this order before its program starts
    /// Of the container that its program runs in: an image's name at a registry, or the path of a file at the center;
    /// empty: it runs in none.
    std::string image;

    bool operator==(const JobSoftware&) const = default;
};

/// What software a center has for jobs, or a job needs of one.
struct SoftwareKinds {
    bool modules{};
    bool containers{};

    bool operator==(const SoftwareKinds&) const = default;
    /// Whether all that is needed is among these.
    bool have(const SoftwareKinds& needed) const
    {
        return (modules || !needed.modules) && (containers || !needed.containers);
    }
};

SoftwareKinds kinds_of(const JobSoftware& software);
/// "modules and containers", for people; empty: neither.
std::string to_string(const SoftwareKinds& kinds);

/// Reads the fields `modules` and `container`; missing are none. Names hold nothing that a shell or a program would
/// take for something else.
JobSoftware parse_job_software(ObjectReader& reader, std::vector<FieldError>& errors);
/// Adds these fields to a job's; nothing where it needs none.
void add_json(Json& job, const JobSoftware& software);

} // namespace fathom
