#pragma once

#include "schema/link/declaration.hpp"
#include "schema/link/told_cause.hpp"
#include "schema/link/told_outcome.hpp"

#include <type_traits>

// The messages about attempts: orders, and what comes of them.
namespace fathom::link {

template <>
struct Declaration<StartAttempt> {
    static constexpr std::string_view kType = "start_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& start)
    {
        auto& order = start.order;
        fields.id("attempt_id", order.attempt_id);
        fields.id("job_id", order.job_id);
        fields.text("name", order.name, {.max_length = 200});
        fields.text("label", order.label, {.one_of = {"job", "probe"}});
        fields.text("unit_type", order.unit_type, name_rule());
        fields.integer("unit_count", order.unit_count, 1, 1'000'000);
        fields.flag("center_chooses", order.center_chooses);
        fields.flag("center_counts", order.center_counts);
        fields.flag_if_set("exclusive", order.is_exclusive);
        declare_sharing(fields, order);
        fields.items("operators", order.operators, kMaxOperators, DeclareNeed{});
        fields.flag("profile", order.profile);
        fields.strings_if_any("known_operators", order.known_operators, kMaxLibraryOperators,
                              {.min_length = 1, .max_length = 64});
        declare_program(fields, order);
        declare_surroundings(fields, order);
        fields.integer("wall_limit_s", order.wall_limit_s, 1, 31'536'000);
        // Older servers tell none.
        fields.object_if("owner", !order.owner.submitter.empty(), order.owner, [](auto& of, auto& owner) {
            of.text("submitter", owner.submitter, name_rule());
            of.text_if_any("account", owner.account, {.max_length = 128});
            of.text("project", owner.project, {.max_length = 128});
        });
    }

  private:
    /// What its neighbours on a GPU are chosen by.
    template <class Fields, class Self>
    static void declare_sharing(Fields& fields, Self& order)
    {
        if constexpr (Fields::kReads) {
            std::string name; // a class that a newer server has is none that is known here
            fields.text_or_empty("gpu_class", name, {.max_length = 32});
            order.kernel_class = parse_kernel_class(name).value_or(KernelClass::kUnknown);
            order.gpu_pairs = read_gpu_pairs(fields.reader(), "gpu_pairs", fields.errors());
        } else {
            if (order.kernel_class != KernelClass::kUnknown) fields.json()["gpu_class"] = to_string(order.kernel_class);
            for (const GpuPair& pair : order.gpu_pairs)
                fields.json()["gpu_pairs"].push_back(to_json(pair));
        }
        fields.text_if_any("gpu_kind", order.gpu_kind, {.max_length = kMaxGpuKind});
    }

    template <class Fields, class Self>
    static void declare_program(Fields& fields, Self& order)
    {
        fields.strings_if_any("command", order.command, 1000, {.max_length = 65536});
        if (Fields::kReads || order.command.empty())
            fields.text_or_empty("script", order.script, {.max_length = 1UL << 20U});
        fields.require(order.command.empty() != order.script.empty(), "command",
                       "either a command or a script is needed");
        fields.text_map("environment", order.environment);
        fields.text_map("files", order.files);
    }

    /// Its data, and what it needs of its center's software.
    template <class Fields, class Self>
    static void declare_surroundings(Fields& fields, Self& order)
    {
        if constexpr (Fields::kReads) {
            order.inputs = parse_job_inputs(fields.reader(), fields.errors());
            order.software = parse_job_software(fields.reader(), fields.errors());
            order.outputs = parse_job_outputs(fields.reader(), fields.errors());
        } else {
            add_json(fields.json(), order.software);
            if (!order.inputs.empty()) fields.json()["inputs"] = to_json(order.inputs);
            if (!order.outputs.empty()) fields.json()["outputs"] = to_json(order.outputs);
        }
    }
};

template <>
struct Declaration<CancelAttempt> {
    static constexpr std::string_view kType = "cancel_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& cancel)
    {
        fields.id("attempt_id", cancel.attempt_id);
        fields.text_or_empty("reason", cancel.reason, {.max_length = kMaxReason});
    }
};

template <>
struct Declaration<RecallAttempt> {
    static constexpr std::string_view kType = "recall_attempt";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& recall)
    {
        fields.id("attempt_id", recall.attempt_id);
        fields.text_or_empty("reason", recall.reason, {.max_length = kMaxReason});
    }
};

template <>
struct Declaration<AttemptStarted> {
    static constexpr std::string_view kType = "attempt_started";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& started)
    {
        fields.id("attempt_id", started.attempt_id);
        fields.time("started_at", started.started_at);
        fields.numbers("cpus", started.cpus);
        fields.numbers("units", started.units);
        fields.text_or_empty("unit_type", started.unit_type, {.max_length = 128});
        fields.strings("able_unit_types", started.able_unit_types, kMaxUnitTypes, name_rule());
        fields.optional_object("neighbours", started.neighbours, [](auto& of, auto& neighbours) {
            if constexpr (std::decay_t<decltype(of)>::kReads)
                neighbours = read_device_neighbours(of.reader());
            else
                of.json() = to_json(neighbours);
        });
    }
};

template <>
struct Declaration<QueueReport> {
    static constexpr std::string_view kType = "queue_report";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& report)
    {
        fields.items("attempts", report.attempts, kMaxQueuedAttempts, [](auto& of, auto& attempt) {
            of.id("attempt_id", attempt.attempt_id);
            of.text("reason", attempt.reason, {.max_length = kMaxQueueReason});
            of.optional_time("expected_start", attempt.expected_start);
        });
        fields.items("unit_types", report.unit_types, kMaxUnitTypes, [](auto& of, auto& type) {
            of.text("unit_type", type.unit_type, name_rule());
            of.optional_time("expected_start", type.expected_start);
        });
        fields.require(!report.attempts.empty() || !report.unit_types.empty(), "attempts",
                       "or unit_types must say something");
    }
};

template <>
struct Declaration<AttemptOutput> {
    static constexpr std::string_view kType = "attempt_output";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& output)
    {
        fields.id("attempt_id", output.attempt_id);
        fields.text("stream", output.stream, {.one_of = {"stdout", "stderr"}});
        fields.integer("offset_bytes", output.offset_bytes, 0, kMaxBytes);
        fields.bytes("data_base64", output.data, kMaxOutputBytes);
    }
};

template <>
struct Declaration<AttemptEnded> {
    static constexpr std::string_view kType = "attempt_ended";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& ended)
    {
        auto& end = ended.end;
        fields.id("attempt_id", end.attempt_id);
        if constexpr (Fields::kReads)
            read_outcome(fields.reader(), end);
        else
            write_outcome(fields.json(), end);
        fields.optional_integer("exit_code", end.exit_code, 0, 255);
        if constexpr (Fields::kReads)
            end.cause = read_cause(fields.reader(), end);
        else if (may_have_cause(end))
            fields.json()["cause"] = to_string(end.cause);
        fields.optional_integer("signal", end.signal, 1, 64);
        fields.optional_time("started_at", end.started_at);
        fields.time("ended_at", end.ended_at);
        declare_use(fields, end);
        fields.json_object_if_any("profile", end.profile);
        declare_data(fields, end);
    }

  private:
    template <class Fields, class Self>
    static void declare_use(Fields& fields, Self& end)
    {
        fields.number("run_s", end.run_s, 0, 1e9);
        fields.number("cpu_s", end.cpu_s, 0, 1e12);
        fields.integer("max_resident_bytes", end.max_resident_bytes, 0, kMaxBytes);
        fields.text_if_any("nodes", end.nodes, {.max_length = kMaxNodesBytes});
        fields.integer_if_any("energy_j", end.energy_j, kMaxEnergy_j);
        fields.integer("stdout_bytes", end.stdout_bytes, 0, kMaxBytes);
        fields.integer("stderr_bytes", end.stderr_bytes, 0, kMaxBytes);
    }

    template <class Fields, class Self>
    static void declare_data(Fields& fields, Self& end)
    {
        if constexpr (Fields::kReads) {
            end.outputs = parse_stored_outputs(fields.reader(), fields.errors());
            end.staging = parse_staging_use(fields.reader(), fields.errors());
        } else {
            if (!end.outputs.empty()) fields.json()["outputs"] = to_json(end.outputs);
            if (end.staging) fields.json()["staging"] = to_json(*end.staging);
        }
    }
};

} // namespace fathom::link
