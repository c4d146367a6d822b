import { describe, expect, it } from 'vitest'
import { type BalanceStep, parseStep, withStep } from './balance'

function step(number: number): BalanceStep {
  return {
    number, at: '2026-11-20T11:04:14Z', job_id: null, dry_run: true, outcome: 'in_band', law: 'pid', band: 0.05, transfer: 0.5, load: 0.5,
    sample_transfer: 0.5, sample_load: 0.5, error: 0, change: 0, region: 'near', gains: { proportional: 2, integral: 0, derivative: 0.3 }, output: 0,
    actions: { sub_units: 0, clock_mhz: 0, precision_steps: 0 }, wanted_sub_units: null, reason: 'balanced', faults: [],
  }
}

describe('steps of a balance loop', () => {
  it('are added in order, once, and the oldest make room', () => {
    let steps: readonly BalanceStep[] = []
    for (const number of [1, 2, 2, 3, 1, 4]) steps = withStep(steps, step(number), 3)
    expect(steps.map((one) => one.number)).toEqual([2, 3, 4])
  })

  it('are read from the stream, and what is none is left alone', () => {
    expect(parseStep(JSON.stringify(step(7)))?.number).toBe(7)
    expect(parseStep('{"number":1}')).toBeNull()
    expect(parseStep('null')).toBeNull()
    expect(parseStep('no JSON')).toBeNull()
  })
})
