import { describe, expect, it } from 'vitest'
import type { Health } from '../health'
import { cutText, drawnOf, layOut, layOutNarrow, lineWidth, mostDrawn } from './map_layout'

const center = (name: string, health: Health = 'online') => ({ name, health })
const names = (centers: readonly { name: string }[]) => centers.map((one) => one.name)

describe('a map of the network', () => {
  it('has a place for each center within the drawing, none on another, and the same each time', () => {
    for (const count of [0, 1, 2, 3, 7, mostDrawn]) {
      const { width, height, middle, spots } = layOut(count)
      expect(spots).toHaveLength(count)
      for (const side of ['left', 'right'] as const) {
        const heights = spots.filter((spot) => spot.side === side).map((spot) => spot.y)
        for (const [i, y] of heights.slice(1).entries()) expect(y - (heights[i] ?? 0)).toBeCloseTo(46)
      }
      for (const { x, y, side } of spots) {
        expect(side === 'left' ? x : width - x).toBeGreaterThan(220)
        expect(side === 'left' ? middle.x - x : x - middle.x).toBeGreaterThanOrEqual(140)
        expect(y).toBeGreaterThanOrEqual(30)
        expect(y).toBeLessThanOrEqual(height - 30)
      }
      expect(layOut(count)).toEqual({ width, height, middle, trunk: null, spots })
    }
  })

  it('has the first half of the centers on the left', () => {
    expect(layOut(3).spots.map((spot) => spot.side)).toEqual(['left', 'left', 'right'])
  })

  it('has all of them in one column on a narrow screen, with room for their texts and for the rates on their lines', () => {
    for (const count of [1, 2, 7, mostDrawn]) {
      const { width, height, middle, trunk, spots } = layOutNarrow(count)
      expect(width).toBeLessThanOrEqual(390)
      expect(spots).toHaveLength(count)
      expect(new Set(spots.map((spot) => spot.x)).size).toBe(1)
      for (const { x, y, side, from, rateAt } of spots) {
        expect(side).toBe('right')
        expect(width - x).toBeGreaterThan(220)
        expect(x - from.x).toBeGreaterThanOrEqual(80)
        expect(rateAt.x).toBe((from.x + x) / 2)
        expect(y).toBeGreaterThanOrEqual(middle.y + 50)
        expect(y).toBeLessThanOrEqual(height - 30)
        expect(from).toEqual({ x: trunk?.from.x, y })
      }
      expect(trunk?.to.y).toBe(spots.at(-1)?.y)
    }
    expect(layOutNarrow(0).trunk).toBeNull()
  })

  it('draws all centers by name where they are few', () => {
    expect(names(drawnOf([center('c'), center('a', 'lost'), center('b')]))).toEqual(['a', 'b', 'c'])
  })

  it('draws those with trouble first where they are many', () => {
    const many = [...Array.from({ length: 50 }, (_, i) => center(`c${String(i).padStart(2, '0')}`)), center('x', 'revoked'), center('y', 'lost'), center('z', 'suspect')]
    const drawn = names(drawnOf(many))
    expect(drawn).toHaveLength(mostDrawn)
    expect(drawn.slice(-2)).toEqual(['y', 'z'])
    expect(drawn).not.toContain('x')
    expect(drawn[0]).toBe('c00')
  })

  it('has wider lines for greater rates', () => {
    expect([100, 50, 49, 10, 9, 0].map((rate) => lineWidth(rate, 100))).toEqual([5, 5, 3, 3, 1.5, 1.5])
    expect(lineWidth(0, 0)).toBe(1.5)
  })

  it('cuts names that are too long', () => {
    expect(cutText('alpha', 5)).toBe('alpha')
    expect(cutText('alphabet', 5)).toBe('alph…')
  })
})
