import { expect, test } from 'vitest'
import { gpusOf, sharesByTurns } from './shared_by_turns'

test('units that are turns on a device are told from others by their facts', () => {
  expect(sharesByTurns({ facts: { device: { model: 'H100', sharing: 'time-slice' } } })).toBe(true)
  expect(sharesByTurns({ facts: { device: { model: 'H100', sharing: 'mps' } } })).toBe(false)
  expect(sharesByTurns({ facts: { device: 'time-slice' } })).toBe(false)
  expect(sharesByTurns({ facts: {} })).toBe(false)
  expect(sharesByTurns({ facts: null })).toBe(false)
})

test('a unit type has the GPUs that its agent names, and any where it names none', () => {
  const gpus = [{ gpu: 'GPU-a' }, { gpu: 'GPU-b' }, { gpu: 'GPU-c' }]
  const shown = (device: object) => gpusOf({ facts: { device } }, gpus).map((one) => one.gpu)
  expect(shown({ ids: ['GPU-c', 'GPU-a', 'GPU-elsewhere'] })).toEqual(['GPU-a', 'GPU-c'])
  expect(shown({ ids: [] })).toEqual([])
  expect(shown({ ids: null })).toEqual([])
  expect(shown({ sharing: 'time-slice' })).toEqual(['GPU-a', 'GPU-b', 'GPU-c'])
})
