import { describe, expect, it } from 'vitest'
import { comparePrices } from './diff'

const before = {
  currency: 'EUR', minimum_charge: '0.001',
  entries: [{ center: '*', unit_type: '*', per_score_hour: '0.10' }, { center: 'alpha', unit_type: 'gpu', per_unit_hour: '2.50' }],
  discounts: [{ project: 'materials', percent: '10' }],
}

describe('differences of price books', () => {
  it('are none for another order or another way to write the same amount', () => {
    expect(comparePrices(before, { ...before, entries: [...before.entries].reverse(), minimum_charge: '0.0010' })).toEqual([])
    expect(comparePrices({ ...before, minimum_charge: '100' }, { ...before, minimum_charge: '1' })).toHaveLength(1)
  })

  it('are told by place and price', () => {
    const bands = [{ days: ['sat' as const], per_unit_hour: '1.25' }]
    const after = { ...before, currency: 'CHF', entries: [...before.entries.slice(0, 1), { center: 'alpha', unit_type: 'gpu', per_unit_hour: '3.00', bands }] }
    expect(comparePrices(before, after)).toEqual([
      { path: 'currency', before: 'EUR', after: 'CHF' },
      { path: 'entries: alpha / gpu: per_unit_hour', before: '2.50', after: '3.00' },
      { path: 'entries: alpha / gpu: bands', before: null, after: '[{"days":["sat"],"per_unit_hour":"1.25"}]' },
    ])
  })

  it('name what is new and what is gone', () => {
    const after = { currency: 'EUR', minimum_charge: '0.001', entries: [...before.entries.slice(0, 1), { center: 'beta', unit_type: '*', per_unit_hour: '1' }] }
    expect(comparePrices(before, after)).toEqual([
      { path: 'entries: alpha / gpu', before: 'per_unit_hour 2.50', after: null },
      { path: 'entries: beta / *', before: null, after: 'per_unit_hour 1' },
      { path: 'discounts: materials', before: 'percent 10', after: null },
    ])
    expect(comparePrices(null, after)).toHaveLength(4)
  })
})
