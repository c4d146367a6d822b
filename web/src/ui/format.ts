// Figures as people read them. Everything here is pure: the zone and the locale are told.
export type Zone = 'utc' | 'local'

export const nothing = '–'

/** Keeps what was made for a key: to make one of Intl's formats takes far longer than to use it. */
function kept<Key, Format>(make: (key: Key) => Format): (key: Key) => Format {
  const formats = new Map<Key, Format>()
  return (key) => {
    const format = formats.get(key) ?? make(key)
    formats.set(key, format)
    return format
  }
}

const timeFormat = kept((zone: Zone) => new Intl.DateTimeFormat('en-GB', {
  year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
  hourCycle: 'h23', timeZoneName: 'short', ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
}))
const numberFormat = kept((locale: string) => kept((most: number) => new Intl.NumberFormat(locale, { maximumFractionDigits: most })))

function parts(iso: string, zone: Zone): Record<string, string> {
  return Object.fromEntries(timeFormat(zone).formatToParts(new Date(iso)).map((part) => [part.type, part.value]))
}

/** 2026-03-01 14:05:09 UTC. The same order in every language: it sorts, and nobody can misread it. */
export function formatTime(iso: string | null | undefined, zone: Zone): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return nothing
  const p = parts(iso, zone)
  return `${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}:${p.second} ${p.timeZoneName}`
}

const steps: [string, number][] = [['d', 86400], ['h', 3600], ['min', 60]]

/** 3 d 4 h, 5 min 20 s, 1.42 s, 13.0 ms: two units at most, three digits below a minute. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return nothing
  if (seconds < 0) return `−${formatDuration(-seconds)}`
  if (seconds === 0) return '0 s'
  if (seconds < 1e-3) return `${digits(seconds * 1e6)} µs`
  if (seconds < 1) return `${digits(seconds * 1e3)} ms`
  if (seconds < 59.95) return `${digits(seconds)} s`
  const whole = Math.round(seconds)
  for (const [i, [unit, size]] of steps.entries()) {
    if (whole < size) continue
    const [smallUnit, smallSize] = steps[i + 1] ?? ['s', 1]
    const rest = Math.floor((whole % size) / smallSize)
    return `${Math.floor(whole / size)} ${unit}${rest ? ` ${rest} ${smallUnit}` : ''}`
  }
  return `${whole} s`
}

function digits(value: number): string {
  return value.toPrecision(3).includes('e') ? String(Math.round(value)) : value.toPrecision(3)
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** 1.50 GiB. Binary units, as memory is told in. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return nothing
  let value = bytes
  let unit = 0
  while (value >= 1023.5 && unit < byteUnits.length - 1) {
    value /= 1024
    ++unit
  }
  return `${unit === 0 ? String(value) : digits(value)} ${byteUnits[unit] ?? ''}`
}

/** 512 J, 1.50 kJ, 2.40 kWh: kilowatt-hours, in which energy is paid for, from a tenth of one on. */
export function formatEnergy(joules: number | null | undefined): string {
  if (joules === null || joules === undefined || !Number.isFinite(joules)) return nothing
  if (joules === 0) return '0 J'
  if (joules < 999.5) return `${digits(joules)} J`
  return joules < 3.6e5 ? `${digits(joules / 1e3)} kJ` : `${digits(joules / 3.6e6)} kWh`
}

export function formatNumber(value: number | null | undefined, locale: string, most = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  return numberFormat(locale)(most).format(value)
}

/** 0.823 as 82.3 %. */
export function formatShare(value: number | null | undefined, most = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  return `${(value * 100).toFixed(most).replace(/\.0+$/, '')} %`
}

export interface Money {
  readonly amount: string
  readonly currency: string
}

/** Exact amounts stay exact: they are text, and no digit is rounded away. */
export function formatMoney(money: Money | null | undefined): string {
  return money ? `${money.amount} ${money.currency}` : nothing
}

/** Seconds from one moment to another; null where one is missing. */
export function secondsBetween(from: string | null | undefined, to: string | null | undefined): number | null {
  if (!from || !to) return null
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return Number.isFinite(seconds) ? seconds : null
}
