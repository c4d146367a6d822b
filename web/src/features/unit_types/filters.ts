import type { UnitType } from '../../queries/unit_types'

export interface UnitFilters {
  center: string
  kind: string
  operator: string
  /** '': what is offered now. */
  state: '' | 'gone' | 'all'
  name: string
}

export const filterNames = ['center', 'kind', 'operator', 'state', 'name'] as const

export function parseUnitFilters(raw: Record<(typeof filterNames)[number], string>): UnitFilters {
  return { ...raw, state: raw.state === 'gone' || raw.state === 'all' ? raw.state : '' }
}

/** The unit types that fit; all of them were read at once, so they are filtered here. */
export function filterUnits(units: readonly UnitType[], filters: UnitFilters): UnitType[] {
  const name = filters.name.trim().toLowerCase()
  return units.filter((unit) => (filters.state === 'all' || unit.active === (filters.state === '')) &&
    (!filters.center || unit.center === filters.center) && (!filters.kind || unit.resource_type === filters.kind) &&
    (!filters.operator || unit.operators.includes(filters.operator)) && (!name || unit.name.toLowerCase().includes(name)))
}

/** Each value once, sorted: what a filter offers. */
export function choices(values: Iterable<string>): string[] {
  return [...new Set(values)].sort((a, b) => a.localeCompare(b))
}

export function freeUnits(unit: UnitType): number {
  return unit.active ? Math.max(0, unit.unit_count - unit.units_in_use) : 0
}
