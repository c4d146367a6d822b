import type { Health } from '../health'

// Units of the drawing, which is scaled to the page; a text of 12 is as large as the page's own at a width of 880, or 360 where it is narrow.
const rowHeight = 46
const margin = 30
const mapWidth = 880
const leastHeight = 160
/** How far nodes are from the middle, and how much further those at half height are. */
const nearest = 140
const bow = 60

/** More would be no picture any more. */
export const mostDrawn = 40

/** How far the node of the network reaches from its middle, to each side. */
export const hubReach = { x: 62, y: 24 }

// A narrow drawing: the network above, its centers below each other.
const narrowWidth = 360
const narrowHub = { x: 72, y: 34 }
const trunkX = 24
const narrowX = 122
const firstRowY = 96

export interface Point {
  x: number
  y: number
}

export interface Spot extends Point {
  /** On which side of the node its text stands. */
  side: 'left' | 'right'
  /** Where the line to the node begins. */
  from: Point
  /** Where on the line its rate stands. */
  rateAt: Point
}

export interface Layout {
  width: number
  height: number
  /** The middle of the network's node. */
  middle: Point
  /** A line from which those of the centers begin, or null: they begin at the network's node. */
  trunk: { from: Point; to: Point } | null
  spots: readonly Spot[]
}

/** How far from its beginning the rate of a line stands, of its length. */
const rateShare = 0.66

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
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
    const spot = { x: side === 'left' ? middle.x - distance : middle.x + distance, y: middle.y + up * rowHeight }
    return { ...spot, side, from: middle, rateAt: between(middle, spot, rateShare) }
  })
  return { width: mapWidth, height, middle, trunk: null, spots }
}

/** The same for a narrow screen, all of whose width is seen at once: the nodes below each other, each on a branch of one line. */
export function layOutNarrow(count: number): Layout {
  const spots = Array.from({ length: count }, (_, i): Spot => {
    const spot = { x: narrowX, y: firstRowY + i * rowHeight }
    const from = { x: trunkX, y: spot.y }
    return { ...spot, side: 'right', from, rateAt: between(from, spot, 0.5) }
  })
  const lastY = spots.at(-1)?.y
  return {
    width: narrowWidth, height: (lastY ?? narrowHub.y) + margin, middle: narrowHub, spots,
    trunk: lastY === undefined ? null : { from: { x: trunkX, y: narrowHub.y }, to: { x: trunkX, y: lastY } },
  }
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
