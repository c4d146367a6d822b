import { expect, it } from 'vitest'
import type { Replica } from '../../queries/authority'
import { endsSoon, nextCommands, notFollowing, readyCenters } from './rotation'

it('names the command of the next step, and the new ca.pem before the switch', () => {
  expect(nextCommands({ phase: 'none' })).toEqual(['fathom authority rotate --begin'])
  expect(nextCommands({ phase: 'begun' })).toEqual(['fathom authority show --ca-file ca.pem', 'fathom authority rotate --switch'])
  expect(nextCommands({ phase: 'switched' })).toEqual(['fathom authority rotate --finish'])
})

it('counts the centers that are ready only while something is replaced', () => {
  expect(readyCenters({ phase: 'none', center_count: 3, waits_for_count: 0 })).toBeNull()
  expect(readyCenters({ phase: 'begun', center_count: 3, waits_for_count: 1 })).toBe(2)
  expect(readyCenters({ phase: 'switched', center_count: 3, waits_for_count: 0 })).toBe(3)
})

it('counts the replicas that do not follow the last step', () => {
  const replica = (state: Replica['state']) => ({ state }) as Replica
  expect(notFollowing({ replicas: [] })).toBe(0)
  expect(notFollowing({ replicas: [replica('follows'), replica('behind'), replica('silent')] })).toBe(2)
})

it('warns half a year before an authority ends', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(endsSoon('2026-06-29T00:00:00Z', now)).toBe(true)
  expect(endsSoon('2026-07-01T00:00:00Z', now)).toBe(false)
})
