import { describe, expect, it } from 'vitest'
import type { UnitType } from '../../queries/unit_types'
import { choices, filterUnits, freeUnits, parseUnitFilters } from './filters'

const unit = (name: string, change: Partial<UnitType> = {}) => ({
  id: name, center: 'alpha', name, resource_type: 'cpu', unit_count: 4, units_in_use: 1, operators: ['dgemm'], active: true, ...change,
}) as UnitType
const units = [unit('core'), unit('gpu', { resource_type: 'cuda', operators: ['dgemm', 'fft'], center: 'beta' }), unit('old', { active: false })]
const none = parseUnitFilters({ center: '', kind: '', operator: '', state: '', name: '' })
const found = (change: object) => filterUnits(units, { ...none, ...change }).map((u) => u.name)

describe('unit types', () => {
  it('are those that are offered, unless asked otherwise', () => {
    expect(found({})).toEqual(['core', 'gpu'])
    expect(found({ state: 'gone' })).toEqual(['old'])
    expect(found({ state: 'all' })).toHaveLength(3)
    expect(parseUnitFilters({ center: '', kind: '', operator: '', state: 'x', name: '' }).state).toBe('')
  })

  it('are found by each filter', () => {
    expect(found({ kind: 'cuda' })).toEqual(['gpu'])
    expect(found({ operator: 'fft' })).toEqual(['gpu'])
    expect(found({ center: 'alpha' })).toEqual(['core'])
    expect(found({ name: ' GP ' })).toEqual(['gpu'])
  })

  it('have free units while they are offered', () => {
    expect(units.map(freeUnits)).toEqual([3, 3, 0])
    expect(choices(['b', 'a', 'b'])).toEqual(['a', 'b'])
  })
})
