import { describe, expect, it } from 'vitest'
import { asNow, isOtherwise, otherwise, type WhatIf } from './what_if'

const nothing: WhatIf = { count: '', prefer: '', deadline: '', budget: '', currency: '', center: '' }
const now = Date.parse('2026-06-01T00:00:00Z')

describe('a job that would be otherwise', () => {
  const spec = { name: 'scf', command: ['pw.x'], units: { type: 'core', count: 'auto' as const, min: 2, max: 8, center: 'alpha' } }

  it('is the same where nothing is', () => {
    expect(isOtherwise({ ...nothing, currency: 'EUR' })).toBe(false)
    expect(otherwise(spec, nothing)).toEqual(spec)
  })

  it('has the count that is asked for, without the limits of auto', () => {
    expect(otherwise(spec, { ...nothing, count: '4' }).units).toEqual({ type: 'core', count: 4, center: 'alpha' })
    expect(otherwise({}, { ...nothing, count: 'auto' })).toEqual({ units: { count: 'auto' } })
  })

  it('may go to another center, or to any', () => {
    expect(otherwise(spec, { ...nothing, center: 'beta' }).units?.center).toBe('beta')
    expect(otherwise(spec, { ...nothing, center: '*' }).units).toEqual({ type: 'core', count: 'auto', min: 2, max: 8 })
    expect(spec.units.center).toBe('alpha')
  })

  it('has another preference, deadline and budget', () => {
    expect(otherwise({ budget: { amount: '1', currency: 'EUR' } }, { ...nothing, prefer: 'cheapest', deadline: '2026-12-01T18:00:00Z', budget: '12.50' }))
      .toEqual({ prefer: 'cheapest', deadline: '2026-12-01T18:00:00Z', budget: { amount: '12.50', currency: 'EUR' } })
    expect(otherwise({}, { ...nothing, budget: '3', currency: 'USD' }).budget).toEqual({ amount: '3', currency: 'USD' })
  })

  it('is placed now: without secrets, and without a deadline that has passed', () => {
    expect(asNow({ name: 'a', deadline: '2026-05-31T00:00:00Z', secret_environment: { K: null } }, now)).toEqual({ name: 'a' })
    expect(asNow({ deadline: '2026-06-02T00:00:00Z' }, now)).toEqual({ deadline: '2026-06-02T00:00:00Z' })
  })
})
