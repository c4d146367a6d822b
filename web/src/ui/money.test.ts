import { describe, expect, it } from 'vitest'
import { fromMicros, isZero, shareOf, subtract, toMicros } from './money'

describe('amounts', () => {
  it('are read exactly', () => {
    expect(toMicros('12.5')).toBe(12_500_000n)
    expect(toMicros('-0.000001')).toBe(-1n)
    expect(toMicros('9999999999999.999999')).toBe(9_999_999_999_999_999_999n)
    for (const wrong of ['', '1.', '.5', '1e3', '1.1234567', 'x']) expect(toMicros(wrong)).toBeNull()
  })

  it('are written without noise', () => {
    expect([12_500_000n, 0n, 3_000_000n, -1n, 1_234_567n].map(fromMicros)).toEqual(['12.50', '0', '3', '-0.000001', '1.234567'])
  })

  it('are compared exactly, where floating point would not', () => {
    expect(subtract('0.3', '0.1')).toBe('0.20')
    expect(subtract('1', 'x')).toBeNull()
    expect(shareOf('25', '200')).toBe(0.125)
    expect(shareOf('25', '0')).toBe(0)
    expect([isZero('0'), isZero('0.000'), isZero('0.000001')]).toEqual([true, true, false])
  })
})
