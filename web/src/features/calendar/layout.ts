/** Something with a beginning and an end, in milliseconds. */
export interface Span {
  id: string
  start: number
  end: number
}

export interface Placed<T extends Span> {
  item: T
  /** Which of the lines below each other: those in one line do not overlap. */
  lane: number
  /** Parts of the window's width, 0 to 1. */
  left: number
  width: number
  /** It goes on beyond the window's edge. */
  isCutLeft: boolean
  isCutRight: boolean
}

/** Where spans lie in a window of time: each in the first line that is free, what is outside left out. */
export function layOut<T extends Span>(items: readonly T[], from: number, until: number): { placed: Placed<T>[]; lanes: number } {
  const ends: number[] = []
  const shown = items.filter((item) => item.start < until && item.end > from).sort((a, b) => a.start - b.start || b.end - a.end)
  const placed = shown.map((item): Placed<T> => {
    const [start, end] = [Math.max(item.start, from), Math.min(item.end, until)]
    const free = ends.findIndex((last) => last <= item.start)
    const lane = free === -1 ? ends.length : free
    ends[lane] = item.end
    return {
      item, lane, left: (start - from) / (until - from), width: (end - start) / (until - from),
      isCutLeft: item.start < from, isCutRight: item.end > until,
    }
  })
  return { placed, lanes: Math.max(1, ends.length) }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface Tick {
  at: number
  left: number
  /** The begin of a day, in the zone that is shown. */
  isDay: boolean
}

/** Round moments in a window, `offsetMs` ahead of UTC: hours in a short one, days in a long one. */
export function ticks(from: number, until: number, offsetMs: number): Tick[] {
  const days = (until - from) / dayMs
  const step = days <= 1 ? 3 * hourMs : days <= 7 ? dayMs : 5 * dayMs
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs
  const list: Tick[] = []
  for (let at = first; at < until; at += step) list.push({ at, left: (at - from) / (until - from), isDay: (at + offsetMs) % dayMs === 0 })
  return list
}

/** The window that is shown: from the day of a typed date, or of now, on. */
export function windowOf(typed: string, days: number, now: number, offsetMs: number): { from: number; until: number } {
  const given = /^\d{4}-\d{2}-\d{2}$/.test(typed) ? Date.parse(typed) - offsetMs : Number.NaN
  const from = Number.isNaN(given) ? Math.floor((now + offsetMs) / dayMs) * dayMs - offsetMs : given
  return { from, until: from + days * dayMs }
}

/** The date, in the zone that is shown, of a moment: 2026-11-25. */
export function dateOf(at: number, offsetMs: number): string {
  return new Date(at + offsetMs).toISOString().slice(0, 10)
}
