import { afterEach, expect, it, vi } from 'vitest'
import { clockText, goodHours, hourOfWeek, minutesPast, offsetMinutes, offsetName, parseTransfer, rateUnit, shiftedHour } from './week'

afterEach(() => vi.restoreAllMocks())

it('weeks begin on Monday in UTC', () => {
  expect(hourOfWeek('2026-03-02T00:00:00Z', 3600)).toBe(0) // a Monday
  expect(hourOfWeek('2026-03-03T14:59:59Z', 3600)).toBe(38)
  expect(hourOfWeek('2026-03-08T23:30:00Z', 3600)).toBe(167)
})

it('good hours may pass midnight', () => {
  expect([...goodHours({ first_hour: 22, hour_count: 4 }, 0)]).toEqual([22, 23, 0, 1])
  expect([...goodHours({ first_hour: 22, hour_count: 3 }, 8 * 60)]).toEqual([6, 7, 8])
  expect(goodHours(null, 0).size).toBe(0)
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

it('hours of UTC are told by another clock, also by one that is no whole hours ahead', () => {
  expect([shiftedHour(0, 168, -60), shiftedHour(167, 168, 60), shiftedHour(20, 24, 330), shiftedHour(5, 24, 0)]).toEqual([167, 0, 1, 5])
  expect([minutesPast(480), minutesPast(330), minutesPast(-210)]).toEqual([0, 30, 30])
  expect([shiftedHour(3, 24, -210), clockText(3 * 60 - 210)]).toEqual([23, '23:30'])
  expect([offsetName(0), offsetName(330), offsetName(-180)]).toEqual(['UTC', 'UTC+05:30', 'UTC−03:00'])
})

it('local time is that of the reader, except where an hour is none', () => {
  vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-480)
  expect([offsetMinutes('local', 3600), offsetMinutes('utc', 3600), offsetMinutes('local', 5)]).toEqual([480, 0, 0])
})
