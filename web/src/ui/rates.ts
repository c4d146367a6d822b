import { nothing } from './format'

const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E']

function scaled(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  let rest = value
  let step = 0
  while (Math.abs(rest) >= 999.5 && step < prefixes.length - 1) {
    rest /= 1000
    ++step
  }
  const text = rest === 0 ? '0' : Math.abs(rest) < 0.01 ? rest.toExponential(1) : rest.toPrecision(3)
  return `${text} ${prefixes[step]}${unit}`
}

/** 33.1 GFLOP/s */
export function formatFlops(value: number | null | undefined): string {
  return scaled(value, 'FLOP/s')
}

/** 6.02 MB/s: networks and memories are told in powers of ten. */
export function formatByteRate(value: number | null | undefined): string {
  return scaled(value, 'B/s')
}

/** 3.2e-13, 0.05, 1 234: a figure without a unit, in three digits or so. */
export function formatFigure(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(2)
  return Number(value.toPrecision(4)).toString()
}

/** m=1024 n=1024 */
export function formatSize(parameters: Readonly<Record<string, number>>): string {
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(' ')
}
