import type { Health } from '../health'

// Units of the drawing, which is scaled to the page; a text of 12 is as large as the page's own at a width of 880.
export const mapWidth = 880
const rowHeight = 46
const margin = 30
const leastHeight = 160
/** How far nodes are from the middle, and how much further those at half height are. */
const nearest = 140
const bow = 60

/** More would be no picture any more. */
export const mostDrawn = 40

export interface Spot {
  x: number
  y: number
  side: 'left' | 'right'
}

export interface Layout {
  height: number
  /** The node in the middle. */
  middle: { x: number; y: number }
  spots: readonly Spot[]
}

/**
 * Where so many nodes stand around one in the middle: the first half of them on the left, from above, the others on the right, at equal
 * distances in height, so that no text is on another.
 */
export function layOut(count: number): Layout {
  const left = Math.ceil(count / 2)
  const height = Math.max(leastHeight, left * rowHeight + 2 * margin)
  const middle = { x: mapWidth / 2, y: height / 2 }
  const spots = Array.from({ length: count }, (_, i): Spot => {
    const [side, at, all] = i < left ? ['left', i, left] as const : ['right', i - left, count - left] as const
    const up = at - (all - 1) / 2
    const distance = nearest + bow * Math.sqrt(1 - ((up * rowHeight) / middle.y) ** 2)
    return { side, x: side === 'left' ? middle.x - distance : middle.x + distance, y: middle.y + up * rowHeight }
  })
  return { height, middle, spots }
}

// What somebody has to see first.
const bySeverity: readonly Health[] = ['lost', 'quarantined', 'suspect', 'drained', 'enrolled', 'online', 'revoked']

/** Those that are drawn, in the order of their names: all, or of too many those with trouble first, then by name. */
export function drawnOf<One extends { name: string; health: Health }>(centers: readonly One[], most = mostDrawn): One[] {
  const byName = (a: One, b: One) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  const first = [...centers].sort((a, b) => bySeverity.indexOf(a.health) - bySeverity.indexOf(b.health) || byName(a, b)).slice(0, most)
  return first.sort(byName)
}

/** How wide the line of a rate is beside the greatest one: a tenth, a half and the whole can be told apart. */
export function lineWidth(rate: number, greatest: number): number {
  const share = greatest > 0 ? rate / greatest : 0
  return share >= 0.5 ? 5 : share >= 0.1 ? 3 : 1.5
}

/** A text that fits: a longer one ends in dots. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
