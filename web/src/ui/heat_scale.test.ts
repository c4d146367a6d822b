import { describe, expect, it } from 'vitest'
import { rangeOf, shadeCount, shadeOf } from './heat_scale'

describe('shades of a heat map', () => {
  it('run from the least value to the greatest', () => {
    expect(shadeOf(0, 0, 70)).toBe(0)
    expect(shadeOf(35, 0, 70)).toBe(3)
    expect(shadeOf(70, 0, 70)).toBe(shadeCount - 1)
    expect(shadeOf(1000, 0, 70)).toBe(shadeCount - 1)
    expect(shadeOf(-5, 0, 70)).toBe(0)
  })

  it('make equal ratios equal distances on a log scale', () => {
    expect(shadeOf(1000, 100, 10000, true)).toBe(3)
    expect(shadeOf(0, 0, 100, true)).toBe(0)
  })

  it('are in the middle when all values are alike, and absent where there is none', () => {
    expect(shadeOf(5, 5, 5)).toBe(3)
    expect(shadeOf(null, 0, 1)).toBeNull()
  })

  it('know the range of what is there', () => {
    expect(rangeOf([null, 3, undefined, 1, Number.NaN])).toEqual({ low: 1, high: 3 })
    expect(rangeOf([null])).toBeNull()
  })
})
