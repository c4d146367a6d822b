import type { UsageRecord } from '../../queries/usage'

const dayMs = 86_400_000

export interface DayUse {
  /** 2026-11-25, in UTC. */
  day: string
  /** Unit-hours by "center / unit type". */
  hours: ReadonlyMap<string, number>
}

/** Unit-hours of each of the last days up to now, by unit type; what lasted over midnight counts in each day for its part. */
export function usageByDay(records: readonly UsageRecord[], now: number, days: number): DayUse[] {
  const last = Math.floor(now / dayMs)
  const sums = Array.from({ length: days }, (_, i) => ({ day: new Date((last - days + 1 + i) * dayMs).toISOString().slice(0, 10), hours: new Map<string, number>() }))
  for (const record of newestRevisions(records)) {
    if (record.kind !== 'compute' || record.paid_by !== 'project') continue
    const place = `${record.center ?? '?'} / ${record.unit_type ?? '?'}`
    const [from, until] = [Date.parse(record.from), Date.parse(record.until)]
    for (const sum of sums) {
      const start = Date.parse(sum.day)
      const ms = Math.min(until, start + dayMs) - Math.max(from, start)
      if (ms > 0) sum.hours.set(place, (sum.hours.get(place) ?? 0) + (ms * record.unit_count) / 3_600_000)
    }
  }
  return sums
}

/** Of several revisions of one source the highest holds. */
export function newestRevisions(records: readonly UsageRecord[]): UsageRecord[] {
  const newest = new Map<string, UsageRecord>()
  for (const record of records) {
    const known = newest.get(record.source)
    if (!known || known.revision < record.revision) newest.set(record.source, record)
  }
  return [...newest.values()]
}

/** All places of some days, sorted. */
export function placesOf(days: readonly DayUse[]): string[] {
  return [...new Set(days.flatMap((day) => [...day.hours.keys()]))].sort()
}

/** One part of each day's bar. */
export interface Stack {
  /** The place; null: all places beyond those that are drawn by themselves. */
  place: string | null
  /** How many places it stands for. */
  count: number
  /** Unit-hours, day by day. */
  hours: number[]
}

/** At most so many parts: the places with most unit-hours by themselves, in their order, and the others together. */
export function stacksOf(days: readonly DayUse[], most: number): Stack[] {
  const places = placesOf(days)
  const all = new Map(places.map((place) => [place, days.reduce((sum, day) => sum + (day.hours.get(place) ?? 0), 0)]))
  const largest = new Set(places.length <= most ? places : [...places].sort((a, b) => (all.get(b) ?? 0) - (all.get(a) ?? 0)).slice(0, most - 1))
  const hoursOf = (of: readonly string[]) => days.map((day) => of.reduce((sum, place) => sum + (day.hours.get(place) ?? 0), 0))
  const rest = places.filter((place) => !largest.has(place))
  return [
    ...places.filter((place) => largest.has(place)).map((place) => ({ place, count: 1, hours: hoursOf([place]) })),
    ...(rest.length > 0 ? [{ place: null, count: rest.length, hours: hoursOf(rest) }] : []),
  ]
}
