import type { NetworkWindow } from '../../queries/network_windows'

/** Monday 1969-12-29 00:00 UTC, from which weeks are counted. */
const firstMonday = Date.UTC(1969, 11, 29) / 1000

/** The hour of the week, 0 is Monday 00:00 UTC, in which a moment lies. In laboratories an hour is shorter. */
export function hourOfWeek(at: string, hourS: number): number {
  const hours = Math.floor((Date.parse(at) / 1000 - firstMonday) / hourS)
  return ((hours % 168) + 168) % 168
}

/** Hours of the day that are good, as a set; empty where all are alike. */
export function goodHours(good: NetworkWindow['good_hours']): ReadonlySet<number> {
  return new Set(good ? Array.from({ length: good.hour_count }, (_, i) => (good.first_hour + i) % 24) : [])
}

export interface RateUnit {
  name: string
  size: number
}

/** The unit in which the greatest of these rates has one to three digits before the point. */
export function rateUnit(rates: readonly number[]): RateUnit {
  const most = Math.max(0, ...rates)
  const units: RateUnit[] = [{ name: 'GB/s', size: 1e9 }, { name: 'MB/s', size: 1e6 }, { name: 'kB/s', size: 1e3 }, { name: 'B/s', size: 1 }]
  return units.find((unit) => most >= unit.size) ?? { name: 'B/s', size: 1 }
}

const sizes: Record<string, number> = { MB: 1e6, GB: 1e9, TB: 1e12 }
export const sizeUnits = Object.keys(sizes)

/** Bytes of a planned transfer; null where the text is no size. */
export function parseTransfer(text: string, unit: string): number | null {
  const value = Number(text.trim())
  const size = sizes[unit] ?? 1e9
  return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value * size : null
}
