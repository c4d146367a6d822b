import { expect, it } from 'vitest'
import { goodHours, hourOfWeek, parseTransfer, rateUnit } from './week'

it('weeks begin on Monday in UTC', () => {
  expect(hourOfWeek('2026-03-02T00:00:00Z', 3600)).toBe(0) // a Monday
  expect(hourOfWeek('2026-03-03T14:59:59Z', 3600)).toBe(38)
  expect(hourOfWeek('2026-03-08T23:30:00Z', 3600)).toBe(167)
})

it('good hours may pass midnight', () => {
  expect([...goodHours({ first_hour: 22, hour_count: 4 })]).toEqual([22, 23, 0, 1])
  expect(goodHours(null).size).toBe(0)
})

it('rates of one map have one unit', () => {
  expect(rateUnit([2e6, 900]).name).toBe('MB/s')
  expect(rateUnit([])).toEqual({ name: 'B/s', size: 1 })
})

it('sizes of transfers have units', () => {
  expect(parseTransfer('40', 'GB')).toBe(4e10)
  expect(parseTransfer('-1', 'GB')).toBeNull()
  expect(parseTransfer('', 'MB')).toBeNull()
})
