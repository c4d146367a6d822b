import { expect, it } from 'vitest'
import type { UsageRecord } from '../../queries/usage'
import { newestRevisions, placesOf, stacksOf, usageByDay } from './by_day'

const record = (from: string, until: string, change: object = {}) => ({
  source: from, revision: 1, kind: 'compute', paid_by: 'project', center: 'alpha', unit_type: 'core', unit_count: 2, from, until, ...change,
}) as UsageRecord
const now = Date.parse('2026-11-25T18:00:00Z')

it('what lasts over midnight counts in both days', () => {
  const days = usageByDay([record('2026-11-24T23:00:00Z', '2026-11-25T02:00:00Z'), record('2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')], now, 2)
  expect(days.map((d) => [d.day, d.hours.get('alpha / core')])).toEqual([['2026-11-24', 2], ['2026-11-25', 4]])
  expect(placesOf(days)).toEqual(['alpha / core'])
})

it('the highest revision holds, and only what the project pays counts', () => {
  const first = record('2026-11-25T00:00:00Z', '2026-11-25T01:00:00Z')
  const second = { ...first, revision: 2, until: '2026-11-25T03:00:00Z' }
  expect(newestRevisions([second, first])).toEqual([second])
  const lost = record('2026-11-25T05:00:00Z', '2026-11-25T06:00:00Z', { paid_by: 'nobody' })
  expect(usageByDay([first, second, lost], now, 1)[0]?.hours.get('alpha / core')).toBe(6)
})

it('the places that were used most are drawn by themselves, the others together', () => {
  const used = (unit_type: string, hours: number) => record('2026-11-25T00:00:00Z', `2026-11-25T0${hours}:00:00Z`, { source: unit_type, unit_type, unit_count: 1 })
  const days = usageByDay([used('a', 1), used('b', 4), used('c', 2), used('d', 3)], now, 1)
  expect(stacksOf(days, 4).map((stack) => stack.place)).toEqual(['alpha / a', 'alpha / b', 'alpha / c', 'alpha / d'])
  expect(stacksOf(days, 3)).toEqual([
    { place: 'alpha / b', count: 1, hours: [4] }, { place: 'alpha / d', count: 1, hours: [3] }, { place: null, count: 2, hours: [3] }])
})
