import { describe, expect, it } from 'vitest'
import { zh } from '../../i18n/zh'
import type { BalanceStep } from '../../queries/balance'
import { changesOf, deedsOf, knownOutcome, lawText, pointsOf, regionText, signed } from './steps'

function step(more: Partial<BalanceStep>): BalanceStep {
  return {
    number: 1, at: '2026-11-20T11:04:14Z', job_id: null, dry_run: false, outcome: 'acted', law: 'pid', band: 0.05, transfer: 0.9, load: 0.4,
    sample_transfer: 0.9, sample_load: 0.4, error: 0.5, change: 0, region: 'far', gains: { proportional: 2, integral: 0, derivative: 0.3 }, output: 0.6,
    actions: { sub_units: -3, clock_mhz: 0, precision_steps: 1 }, wanted_sub_units: null, reason: 'transfer-bound', faults: [], ...more,
  }
}

describe('a step', () => {
  it('says what it changed, and only where it acted', () => {
    expect(changesOf(step({}))).toEqual([{ kind: 'sub_units', by: -3 }, { kind: 'precision_steps', by: 1 }])
    expect(changesOf(step({ outcome: 'no_room' }))).toEqual([])
  })

  it('has figures with their sign', () => {
    expect([signed(0.5), signed(-0.25, 2), signed(0), signed(-0.00001), signed(null)]).toEqual(['+0.500', '−0.25', '+0.000', '+0.000', null])
  })

  it('has an outcome that is known or not', () => {
    expect(knownOutcome('let_go')).toBe('let_go')
    expect(knownOutcome('of_the_future')).toBeNull()
  })
})

describe('a trace', () => {
  it('lists what was done, newest first, or all', () => {
    const steps = [step({ number: 1 }), step({ number: 2, outcome: 'in_band' }), step({ number: 3 })]
    expect(deedsOf(steps, false).map((one) => one.number)).toEqual([3, 1])
    expect(deedsOf(steps, true).map((one) => one.number)).toEqual([3, 2, 1])
  })

  it('has a gap where nothing was measured', () => {
    expect(pointsOf([step({}), step({ error: null })], 'error').map(([, value]) => value)).toEqual([0.5, null])
  })
})

describe('the words of an agent', () => {
  const t = (key: keyof typeof zh) => zh[key]

  it('are told in the reader’s language', () => {
    expect(regionText(t, 'near, changing fast')).toBe('近，变化快')
    expect(lawText(t, 'aimd')).toBe('AIMD（无增益的规则）')
  })

  it('stay as they are where they are not known, and where there are none', () => {
    expect(regionText(t, 'beyond')).toBe('beyond')
    expect(regionText(t, null)).toBeNull()
    expect(lawText(t, '')).toBe('')
  })
})
