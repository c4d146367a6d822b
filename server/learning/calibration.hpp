#pragma once

#include "core/decide/history/run_calibration.hpp"
#include "core/decide/prediction/prediction_accuracy.hpp"
#include "server/learning/predictions_store.hpp"

#include <span>
#include <string>
#include <vector>

namespace fathom::server {

/// How well some attempts were predicted.
struct PredictionQuality {
    Calibration run; ///< of those that succeeded
    Accuracy wait;   ///< seconds, of those that started
    Accuracy cost;   ///< in the newest one's currency, of those that succeeded under prices in it
};

/// The same of all, and of parts.
struct NetworkCalibration {
    struct OfUnitType {
        PredictionRecord place; ///< an attempt there, for its names
        PredictionQuality quality;
    };
    struct OfJobType {
        std::string job_type;
        PredictionQuality quality;
    };

    struct OfRung {
        Rung rung{};
        Calibration run; ///< of those that succeeded
    };

    PredictionQuality all;
    std::string currency;                 ///< of costs; empty: there are none
    std::vector<OfUnitType> by_unit_type; ///< in order of center and name
    std::vector<OfJobType> by_job_type;   ///< in order of name
    std::vector<OfRung> by_rung;          ///< those on which there were any predictions
};

/// A run that says how predictions of run times are: it has succeeded. Its raw prediction, its prediction or both may
/// be 0.
PastRun to_past_run(const PredictionRecord& record);

/// Pure. @param records  of ended attempts, newest first.
NetworkCalibration calibrate_network(std::span<const PredictionRecord> records, Timestamp now);

Json to_json(const NetworkCalibration& calibration);

} // namespace fathom::server
