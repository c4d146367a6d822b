import { expect, test } from 'vitest'
import { sharesByTurns } from './shared_by_turns'

test('units that are turns on a device are told from others by their facts', () => {
  expect(sharesByTurns({ facts: { device: { model: 'H100', sharing: 'time-slice' } } })).toBe(true)
  expect(sharesByTurns({ facts: { device: { model: 'H100', sharing: 'mps' } } })).toBe(false)
  expect(sharesByTurns({ facts: { device: 'time-slice' } })).toBe(false)
  expect(sharesByTurns({ facts: {} })).toBe(false)
})
