import { expect, it } from 'vitest'
import { formatByteRate, formatFigure, formatFlops, formatSize } from './rates'

it('rates have three digits and a prefix', () => {
  expect(formatFlops(33_120_000_000)).toBe('33.1 GFLOP/s')
  expect(formatByteRate(6_000_000)).toBe('6.00 MB/s')
  expect(formatByteRate(999_600)).toBe('1.00 MB/s')
  expect(formatByteRate(0)).toBe('0 B/s')
  expect(formatFlops(null)).toBe('–')
})

it('figures and sizes are short', () => {
  expect(formatFigure(3.2e-13)).toBe('3.20e-13')
  expect(formatFigure(0.05)).toBe('0.05')
  expect(formatSize({ m: 8, n: 4 })).toBe('m=8 n=4')
})
