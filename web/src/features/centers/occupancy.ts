import type { UnitType } from '../../queries/unit_types'

export interface Occupancy {
  /** Units in use. */
  used: number
  /** Units that are offered. */
  all: number
}

/** How many units each center offers, and how many of these are in use, by the center's id. */
export function occupancyByCenter(units: readonly UnitType[]): ReadonlyMap<string, Occupancy> {
  const sums = new Map<string, Occupancy>()
  for (const unit of units) {
    if (!unit.active) continue
    const sum = sums.get(unit.center_id) ?? { used: 0, all: 0 }
    sums.set(unit.center_id, { used: sum.used + unit.units_in_use, all: sum.all + unit.unit_count })
  }
  return sums
}
