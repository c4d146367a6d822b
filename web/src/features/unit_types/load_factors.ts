import type { LoadCurve } from '../../queries/load_curves'

/** How many times longer an operator takes beside so many busy cores of its host than alone, with an 80 % interval. */
export type LoadFactor = NonNullable<LoadCurve['points']>[number]

type Told = Pick<LoadCurve, 'operator' | 'points'>

/** The factor beside this share of the largest load that the operator was measured beside; null where nothing is told. */
export function factorBeside(curve: Pick<LoadCurve, 'points' | 'largest_busy_cores'>, share: number): LoadFactor | null {
  const wanted = share * (curve.largest_busy_cores ?? 0)
  return curve.points?.find((point) => Math.abs(point.busy_cores - wanted) < 1e-9 * Math.max(1, wanted)) ?? null
}

/** Those that are drawn: the ones that neighbours slow most, as many as can be told apart. */
export function drawnLoads<Curve extends Told>(curves: readonly Curve[], most: number): Curve[] {
  const slowest = (curve: Told) => Math.max(0, ...(curve.points ?? []).map((point) => point.factor))
  return curves.filter((curve) => curve.points?.length)
    .sort((a, b) => slowest(b) - slowest(a) || a.operator.localeCompare(b.operator)).slice(0, most)
}

/** A curve as it is drawn: busy cores against the factor, which is 1 alone. */
export function lineOf(curve: Told): [number, number][] {
  return [[0, 1], ...(curve.points ?? []).map((point): [number, number] => [point.busy_cores, point.factor])]
}
