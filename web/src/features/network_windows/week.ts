import type { NetworkWindow } from '../../queries/network_windows'
import type { Zone } from '../../ui/format'

/** Monday 1969-12-29 00:00 UTC, from which weeks are counted. */
const firstMonday = Date.UTC(1969, 11, 29) / 1000

/** The hour of the week, 0 is Monday 00:00 UTC, in which a moment lies. In laboratories an hour is shorter. */
export function hourOfWeek(at: string, hourS: number): number {
  const hours = Math.floor((Date.parse(at) / 1000 - firstMonday) / hourS)
  return ((hours % 168) + 168) % 168
}

/** Hours of the day that are good, by a clock that is so far ahead of UTC, as a set; empty where all are alike. */
export function goodHours(good: NetworkWindow['good_hours'], offsetMin: number): ReadonlySet<number> {
  return new Set(good ? Array.from({ length: good.hour_count }, (_, i) => shiftedHour(good.first_hour + i, 24, offsetMin)) : [])
}

/**
 * How far the reader's clock is ahead of UTC now, in minutes; 0 where UTC is shown. Where clocks change with the seasons, the hours of a
 * week are those of today's time. Hours of laboratories are no hours of a clock: they stay as they are counted.
 */
export function offsetMinutes(zone: Zone, hourS: number): number {
  return zone === 'utc' || hourS !== 3600 ? 0 : -new Date().getTimezoneOffset()
}

/** UTC, UTC+05:30, UTC−03:00. */
export function offsetName(offsetMin: number): string {
  if (offsetMin === 0) return 'UTC'
  return `UTC${offsetMin < 0 ? '−' : '+'}${clockText(Math.abs(offsetMin))}`
}

/** Minutes since midnight as 05:30; those past it are of the next day. */
export function clockText(minutes: number): string {
  const within = ((minutes % 1440) + 1440) % 1440
  return `${String(Math.floor(within / 60)).padStart(2, '0')}:${String(within % 60).padStart(2, '0')}`
}

/** In which hour an hour of UTC begins by a clock that is so far ahead, of `count` in all: 24 of a day, 168 of a week. */
export function shiftedHour(hour: number, count: number, offsetMin: number): number {
  return (((hour + Math.floor(offsetMin / 60)) % count) + count) % count
}

/** How many minutes past the full hour hours of UTC begin by such a clock. */
export function minutesPast(offsetMin: number): number {
  return ((offsetMin % 60) + 60) % 60
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
