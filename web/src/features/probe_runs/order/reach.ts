import type { UnitType } from '../../../queries/unit_types'

export interface Reach {
  unitType: UnitType
  name: string
  /** Operators that it does not have; none: it can run all. */
  lacks: readonly string[]
}

/** Which unit types of the catalog can run these operators (M13). An empty list asks for none, so all can. */
export function reachOf(unitTypes: readonly UnitType[], operators: readonly string[]): Reach[] {
  return unitTypes.filter((unitType) => unitType.active).map((unitType) => ({
    unitType, name: `${unitType.center}/${unitType.name}`, lacks: operators.filter((id) => !unitType.operators.includes(id)),
  }))
}
