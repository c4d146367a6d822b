import { expect, it } from 'vitest'
import { mixText, partsOf } from './mix'

it('a mix is told by its largest parts', () => {
  const mix = { 'fft/small': 0.1, 'dgemm/large': 0.6, 'spmv/large': 0.25, 'axpy/small': 0.05 }
  expect(partsOf(mix).map((part) => part.name)).toEqual(['dgemm/large', 'spmv/large', 'fft/small', 'axpy/small'])
  expect(mixText(mix)).toBe('dgemm/large 60 %, spmv/large 25 %, fft/small 10 %, +1')
  expect(mixText({})).toBe('')
})
