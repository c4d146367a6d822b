import { expect, it } from 'vitest'
import { healthOf } from './health'

it('of a center, the worst is said', () => {
  const center = { state: 'online' as const, revoked_at: null, quarantined_at: null, drained: false }
  expect(healthOf(center)).toBe('online')
  expect(healthOf({ ...center, drained: true })).toBe('drained')
  expect(healthOf({ ...center, drained: true, quarantined_at: '2026-01-01T00:00:00Z' })).toBe('quarantined')
  expect(healthOf({ ...center, state: 'lost', drained: true })).toBe('lost')
  expect(healthOf({ ...center, state: 'lost', revoked_at: '2026-01-01T00:00:00Z' })).toBe('revoked')
})
