import type { ScalingCurve } from '../../queries/scaling_curves'
import { formatSize } from '../../ui/rates'

export type Shown = 'efficiency' | 'speedup' | 'rate'

export interface Figure {
  units: number
  value: number
  low: number
  high: number
}

export function keyOf(curve: ScalingCurve): string {
  return `${curve.unit_type_id} ${curve.operator} ${formatSize(curve.parameters)}`
}

export function nameOfCurve(curve: ScalingCurve): string {
  return `${curve.center}/${curve.unit_type} ${curve.operator}`
}

/** What each of some curves is called beside the others: with its size where another one has its name. */
export function namesOf(curves: readonly ScalingCurve[]): string[] {
  const names = curves.map(nameOfCurve)
  return curves.map((curve, i) => {
    const name = names[i] ?? ''
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${formatSize(curve.parameters)}`
  })
}

/** The rate on one unit that efficiencies are told against; null where nothing was measured. */
export function baseRate(curve: ScalingCurve): number | null {
  const point = curve.points?.[0]
  if (!point || !(point.efficiency > 0)) return null
  return point.rate / (point.unit_count * point.efficiency)
}

/** A rate as it is shown: itself, against one unit, or against so many times one unit. */
export function convert(rate: number, units: number, base: number | null, shown: Shown): number {
  if (shown === 'rate' || base === null) return rate
  return shown === 'speedup' ? rate / base : rate / (units * base)
}

export function measuredOf(curve: ScalingCurve, shown: Shown): Figure[] {
  const base = baseRate(curve)
  return (curve.points ?? []).map((p) => {
    const value = convert(p.rate, p.unit_count, base, shown)
    return { units: p.unit_count, value, low: value, high: value }
  })
}

export function modelOf(curve: ScalingCurve, shown: Shown): Figure[] {
  const base = baseRate(curve)
  const as = (rate: number, units: number) => convert(rate, units, base, shown)
  return (curve.curve ?? []).map((p) => ({
    units: p.unit_count, value: as(p.rate, p.unit_count), low: as(p.low, p.unit_count), high: as(p.high, p.unit_count) }))
}
