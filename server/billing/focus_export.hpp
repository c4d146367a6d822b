#pragma once

#include "server/billing/charge_rows.hpp"

#include <string>

/// FOCUS (FinOps Open Cost and Usage Specification) rows: SubAccount is the project, Region the center, Resource the
/// job, Sku the unit type and what is charged of it; x_ columns say the score and where its evidence is.
namespace fathom::server {

enum class FocusVersion { k1_2, k1_3 };

struct FocusOptions {
    FocusVersion version = FocusVersion::k1_2;
    std::string network = "Fathom"; ///< who operates the network and issues the bills
};

/// The names of the columns, with the line's end.
std::string focus_head(const FocusOptions& options);
/// One line as one row.
void append_focus_row(std::string& out, const ChargeRow& row, const FocusOptions& options);

/// One line as one JSON object on a line, with the names of the REST interface.
void append_json_line(std::string& out, const ChargeRow& row);

} // namespace fathom::server
