import type { UnitTypeUse, UnitUse } from '../../queries/unit_use'

/** The unit types that are named: all there are by name, so that none moves while it is looked at; of more than these, the fullest first. */
export function inOrder({ fullest, unit_type_count }: UnitUse): readonly UnitTypeUse[] {
  if (unit_type_count > fullest.length) return fullest
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return [...fullest].sort((a, b) => compare(a.center, b.center) || compare(a.name, b.name))
}
