import { describe, expect, it } from 'vitest'
import { diffJson } from './json_diff'

describe('differences of two documents', () => {
  it('are the leaves that differ', () => {
    expect(diffJson({ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 2, d: 4 }, e: 5 })).toEqual([
      { path: 'b.d', before: 3, after: 4 }, { path: 'e', before: undefined, after: 5 }])
    expect(diffJson({ a: [1, 2] }, { a: [1, 2] })).toEqual([])
  })

  it('find named entries again, wherever they stand', () => {
    const before = { parameters: [{ name: 'm', max: 10 }, { name: 'n', max: 20 }] }
    const after = { parameters: [{ name: 'n', max: 20 }, { name: 'm', max: 8 }] }
    expect(diffJson(before, after)).toEqual([{ path: 'parameters.m.max', before: 10, after: 8 }])
  })

  it('find entries again by whatever names them, operators together with their size', () => {
    const line = (n: number, median_s: number) => ({ operator: 'dgemm', parameters: { n }, median_s })
    expect(diffJson([line(8, 1), line(16, 2)], [line(16, 3), line(8, 1)])).toEqual([{ path: 'dgemm n=16.median_s', before: 2, after: 3 }])
    expect(diffJson({ figures: [{ figure: 'error', weight: 1 }] }, { figures: [{ figure: 'error', weight: 2 }] }))
      .toEqual([{ path: 'figures.error.weight', before: 1, after: 2 }])
  })

  it('tell a list without names as a whole', () => {
    expect(diffJson({ s: ['a', 'b'] }, { s: ['a'] })).toEqual([{ path: 's', before: ['a', 'b'], after: ['a'] }])
  })
})
