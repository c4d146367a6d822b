import type { UnitType } from '../../queries/unit_types'

/** As many unit types as may be shown: all in their order, or, of more than that, the fullest first. */
export function busiest(units: readonly UnitType[], most: number): readonly UnitType[] {
  if (units.length <= most) return units
  const share = (unit: UnitType) => (unit.unit_count > 0 ? unit.units_in_use / unit.unit_count : 0)
  return [...units].sort((a, b) => share(b) - share(a)).slice(0, most)
}
