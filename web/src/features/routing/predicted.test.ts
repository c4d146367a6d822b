import { describe, expect, it } from 'vitest'
import type { Candidate } from '../../queries/placement_preview'
import { placeName } from './place_name'
import { knownInterval, knownSeconds, predictedDuration, predictedInterval } from './predicted'

function candidate(unknown: number, operators: number, basis?: string): Candidate {
  const prediction = { run_s: 0, low_s: 0, high_s: 0, start_up_s: 0, unknown_operators: unknown, operators: Array(operators).fill({}) }
  return { prediction, ...(basis ? { run_basis: basis } : {}) } as unknown as Candidate
}

describe('what a place is predicted to take', () => {
  it('is unknown where nothing was measured and nothing ran', () => {
    expect(predictedDuration(candidate(0, 0), 0)).toBe('–')
    expect(predictedInterval(candidate(0, 0))).toBe('–')
    expect(knownInterval(candidate(0, 0))).toBe('')
    expect(knownInterval(candidate(0, 1))).toBe('0 0')
  })
  it('is a least where operators were not measured there', () => {
    expect(predictedDuration(candidate(1, 2), 3)).toBe('≥ 3.00 s')
    expect(predictedDuration(candidate(0, 2), 3)).toBe('3.00 s')
  })
  it('is left empty in CSV where it rests on nothing', () => {
    expect(knownSeconds(candidate(0, 0), 0)).toBeNull()
    expect(knownSeconds(candidate(1, 2), 3)).toBe(3)
  })
  it('names the place in CSV as tables show it', () => {
    expect(placeName({ center: 'alpha', unit_type: 'core', unit_count: 2 })).toBe('alpha/core × 2')
  })
  it('may rest on earlier runs', () => {
    expect(predictedDuration(candidate(0, 0, 'runs of its type'), 3)).toBe('3.00 s')
  })
})
