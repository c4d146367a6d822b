import { describe, expect, it } from 'vitest'
import { formatBytes, formatDuration, formatEnergy, formatMoney, formatNumber, formatShare, formatTime, nothing, secondsBetween } from './format'

describe('times', () => {
  it('always name their zone', () => {
    expect(formatTime('2026-03-01T14:05:09.123Z', 'utc')).toBe('2026-03-01 14:05:09 UTC')
    expect(formatTime('2026-03-01T14:05:09Z', 'local')).toMatch(/^2026-03-0[12] \d\d:\d5:09 \S+$/)
  })

  it('that are not there are a dash', () => {
    expect(formatTime(null, 'utc')).toBe(nothing)
    expect(formatTime('yesterday', 'utc')).toBe(nothing)
  })

  it('midnight is 00, not 24', () => {
    expect(formatTime('2026-03-01T00:00:00Z', 'utc')).toBe('2026-03-01 00:00:00 UTC')
  })
})

describe('durations', () => {
  it.each([
    [0, '0 s'], [0.0000042, '4.20 µs'], [0.013, '13.0 ms'], [1.4192, '1.42 s'], [59.94, '59.9 s'], [59.97, '1 min'],
    [320, '5 min 20 s'], [3600, '1 h'], [3661, '1 h 1 min'], [86400 * 3 + 4 * 3600, '3 d 4 h'], [-2, '−2.00 s'],
  ])('%d s is %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text))

  it('unknown is a dash', () => {
    expect(formatDuration(null)).toBe(nothing)
    expect(formatDuration(Number.NaN)).toBe(nothing)
  })
})

describe('other figures', () => {
  it('bytes have binary units', () => {
    expect([0, 512, 1024, 1610612736, 2 ** 60].map(formatBytes)).toEqual(['0 B', '512 B', '1.00 KiB', '1.50 GiB', '1024 PiB'])
  })

  it('energy is in joules, and in kilowatt-hours where it is paid for', () => {
    expect([0, 0.5, 512, 999.7, 1500, 359_000, 360_000, 8.64e6, 4.2e10].map(formatEnergy)).toEqual(
      ['0 J', '0.500 J', '512 J', '1.00 kJ', '1.50 kJ', '359 kJ', '0.100 kWh', '2.40 kWh', '11667 kWh'])
    expect(formatEnergy(null)).toBe(nothing)
  })

  it('shares are in per cent', () => {
    expect([0, 0.8234, 1].map((v) => formatShare(v))).toEqual(['0 %', '82.3 %', '100 %'])
  })

  it('money keeps every digit', () => {
    expect(formatMoney({ amount: '0.100000', currency: 'EUR' })).toBe('0.100000 EUR')
    expect(formatMoney(null)).toBe(nothing)
  })

  it('numbers follow the language', () => {
    expect(formatNumber(1234.5, 'en-GB')).toBe('1,234.5')
    expect(formatNumber(undefined, 'en-GB')).toBe(nothing)
  })

  it('time between moments', () => {
    expect(secondsBetween('2026-01-01T00:00:00Z', '2026-01-01T00:00:02.5Z')).toBe(2.5)
    expect(secondsBetween(null, '2026-01-01T00:00:00Z')).toBeNull()
  })
})
