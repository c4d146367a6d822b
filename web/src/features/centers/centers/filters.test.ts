import { describe, expect, it } from 'vitest'
import type { Center } from '../../../queries/centers'
import { filterCenters, parseCenterFilters } from './filters'

const center = (name: string, change: Partial<Center> = {}) =>
  ({ id: name, name, state: 'online', drained: false, revoked_at: null, quarantined_at: null, ...change }) as Center
const centers = [center('alpha'), center('Beta', { drained: true }), center('beta-old', { state: 'lost', drained: true }), center('gone', { revoked_at: '2026-01-01T00:00:00Z' })]
const found = (raw: Partial<Record<'name' | 'health', string>>) =>
  filterCenters(centers, parseCenterFilters({ name: '', health: '', ...raw })).map((one) => one.name)

describe('centers', () => {
  it('are all shown without filters, and by a health that there is not', () => {
    expect(found({})).toHaveLength(4)
    expect(found({ health: 'splendid' })).toHaveLength(4)
  })

  it('are found by a part of their name', () => {
    expect(found({ name: ' BET ' })).toEqual(['Beta', 'beta-old'])
    expect(found({ name: 'nothing' })).toEqual([])
  })

  it('are found by the one word that their health is told by', () => {
    expect(found({ health: 'online' })).toEqual(['alpha'])
    expect(found({ health: 'drained' })).toEqual(['Beta'])
    expect(found({ health: 'lost', name: 'beta' })).toEqual(['beta-old'])
    expect(found({ health: 'revoked' })).toEqual(['gone'])
  })
})
