import type { Zone } from '../format'

// What <input type="datetime-local"> holds has no zone: here it is read and written in the chosen one.
const shape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/

/** A typed moment as RFC 3339 in UTC; null where it is none. */
export function toIso(typed: string, zone: Zone): string | null {
  if (!shape.test(typed)) return null
  const ms = Date.parse(zone === 'utc' ? `${typed}Z` : typed)
  return Number.isNaN(ms) ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`
}

const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/

/** A moment out of an address, as REST takes it; '' for what is none. */
export function parseMoment(text: string): string {
  return moment.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''
}

/** A moment as the input holds it, to the minute; '' where there is none. */
export function toTyped(iso: string | null | undefined, zone: Zone): string {
  const ms = iso ? Date.parse(iso) : Number.NaN
  if (Number.isNaN(ms)) return ''
  const shift = zone === 'utc' ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - shift).toISOString().slice(0, 16)
}
