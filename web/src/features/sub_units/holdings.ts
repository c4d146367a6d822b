import type { SubUnitHolding, SubUnitKind } from '../../queries/sub_units'

/** What one center has of one kind. */
export interface Holding extends SubUnitHolding {
  kind: string
}

export function holdingsOf(kinds: readonly SubUnitKind[]): Holding[] {
  return kinds.flatMap((kind) => kind.centers.map((holding) => ({ ...holding, kind: kind.kind })))
}

/** Whole units that the sub-units on offer make. */
export function wholeUnits(holding: SubUnitHolding): number {
  return Math.floor(holding.offered_count / holding.sub_units_per_unit)
}

/** The loads of a request for balance, as typed in percent; null where they are none. */
export function loadOf(typed: string): number | null {
  if (!/^\d{1,3}([.,]\d+)?$/.test(typed.trim())) return null
  const percent = Number(typed.trim().replace(',', '.'))
  return percent <= 100 ? percent / 100 : null
}
