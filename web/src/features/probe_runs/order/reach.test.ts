import { expect, it } from 'vitest'
import type { UnitType } from '../../../queries/unit_types'
import { reachOf } from './reach'

function unit(name: string, operators: string[], active = true): UnitType {
  return { id: name, center_id: 'c', center: 'c', name, resource_type: 'cpu', unit_count: 1, units_in_use: 0, queue: null, cores_per_unit: 1,
    memory_bytes_per_unit: 0, operators, facts: {}, active, advice: [], changed_at: '' }
}

it('the catalog says who can run a probe task', () => {
  // The example of M8.
  const catalog = [unit('u1', ['op1', 'op3', 'op4']), unit('u2', ['op1', 'op2', 'op3', 'op5']), unit('u3', ['op1', 'op2', 'op5']), unit('old', ['op1'], false)]
  const able = (...operators: string[]) => reachOf(catalog, operators).filter((r) => r.lacks.length === 0).map((r) => r.unitType.name)
  expect(able('op1', 'op3')).toEqual(['u1', 'u2'])
  expect(able('op2', 'op5')).toEqual(['u2', 'u3'])
  expect(able('op4', 'op5')).toEqual([])
  expect(able()).toEqual(['u1', 'u2', 'u3'])
})
