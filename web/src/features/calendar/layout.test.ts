import { describe, expect, it } from 'vitest'
import { dateOf, layOut, ticks, windowOf } from './layout'

const hour = 3_600_000
const day = 24 * hour

describe('time line', () => {
  it('puts what overlaps below each other, and what does not in one line', () => {
    const { placed, lanes } = layOut([
      { id: 'c', start: 4, end: 6 }, { id: 'a', start: 0, end: 4 }, { id: 'b', start: 2, end: 8 }], 0, 10)
    expect(placed.map((p) => [p.item.id, p.lane, p.left, p.width])).toEqual([['a', 0, 0, 0.4], ['b', 1, 0.2, 0.6], ['c', 0, 0.4, 0.2]])
    expect(lanes).toBe(2)
  })

  it('cuts at its edges and leaves out what is beyond', () => {
    const { placed } = layOut([{ id: 'long', start: -5, end: 50 }, { id: 'before', start: -5, end: 0 }, { id: 'after', start: 10, end: 12 }], 0, 10)
    expect(placed).toEqual([{ item: { id: 'long', start: -5, end: 50 }, lane: 0, left: 0, width: 1, isCutLeft: true, isCutRight: true }])
    expect(layOut([], 0, 10)).toEqual({ placed: [], lanes: 1 })
  })

  it('has ticks at round moments of its zone', () => {
    expect(ticks(0, day, 0).map((t) => t.at / hour)).toEqual([0, 3, 6, 9, 12, 15, 18, 21])
    expect(ticks(0, 2 * day, hour).map((t) => [t.at / hour, t.isDay])).toEqual([[23, true], [47, true]])
  })

  it('begins with a day of its zone', () => {
    expect(windowOf('1970-01-03', 7, 0, 0)).toEqual({ from: 2 * day, until: 9 * day })
    expect(windowOf('nonsense', 1, 5 * hour, 0)).toEqual({ from: 0, until: day })
    expect(windowOf('', 1, 23.5 * hour, hour)).toEqual({ from: 23 * hour, until: 47 * hour })
    expect(dateOf(23.5 * hour, hour)).toBe('1970-01-02')
  })
})
