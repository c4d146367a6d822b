import type { SimulatedCase, Simulation, SimulationFigures } from '../../queries/simulations'

export type FigureKind = 'count' | 'seconds' | 'share' | 'number'

/** The figures that are shown, in their order. */
export const shownFigures = [
  { name: 'jobs', kind: 'count' }, { name: 'ended', kind: 'count' }, { name: 'mean_wait_s', kind: 'seconds' }, { name: 'p95_wait_s', kind: 'seconds' },
  { name: 'max_wait_s', kind: 'seconds' }, { name: 'mean_completion_s', kind: 'seconds' }, { name: 'p95_completion_s', kind: 'seconds' },
  { name: 'mean_slowdown', kind: 'number' }, { name: 'p95_slowdown', kind: 'number' }, { name: 'utilization', kind: 'share' },
  { name: 'missed_deadline', kind: 'count' }, { name: 'impossible', kind: 'count' }, { name: 'energy_kwh', kind: 'number' }, { name: 'cost', kind: 'number' },
] as const satisfies readonly { name: keyof SimulationFigures; kind: FigureKind }[]
export type ShownFigure = (typeof shownFigures)[number]

export interface FigureRow {
  name: ShownFigure['name']
  kind: FigureKind
  before: number | null
  after: number | null
}

/** Before and after, figure by figure; those that nobody has a value of are left out. */
export function figureRows(simulation: Simulation): FigureRow[] {
  return shownFigures
    .map(({ name, kind }) => ({ name, kind, before: simulation.before.figures[name], after: simulation.after.figures[name] }))
    .filter((row) => row.before !== null || row.after !== null)
    .filter((row) => !(row.name === 'missed_deadline' && simulation.before.figures.with_deadline + simulation.after.figures.with_deadline === 0))
}

/** After over before, less one; null where that says nothing. */
export function changeOf(before: number | null, after: number | null): number | null {
  return before === null || after === null || before <= 0 ? null : after / before - 1
}

export interface CenterRow {
  center: string
  /** null: the center is not there. */
  before: SimulatedCase['centers'][number] | null
  after: SimulatedCase['centers'][number] | null
}

/** Each center once, in the order of before, then those that are new. */
export function centerRows(simulation: Simulation): CenterRow[] {
  const after = new Map(simulation.after.centers.map((one) => [one.center, one]))
  const known = new Set(simulation.before.centers.map((one) => one.center))
  return [
    ...simulation.before.centers.map((one) => ({ center: one.center, before: one, after: after.get(one.center) ?? null })),
    ...simulation.after.centers.filter((one) => !known.has(one.center)).map((one) => ({ center: one.center, before: null, after: one })),
  ]
}

/** The classes of waits: from, to in seconds (null: without end), and the jobs in each. */
export function waitClasses(simulation: Simulation) {
  const bounds = simulation.wait_bounds_s
  return [...bounds, null].map((to, i) => ({
    from: i === 0 ? 0 : bounds[i - 1] ?? 0, to, before: simulation.before.waits[i] ?? 0, after: simulation.after.waits[i] ?? 0 }))
}

/** More centers than these are not drawn, but listed. */
export const mostDrawn = 30

/** The centers that are drawn: those with most jobs, in the order of the list. */
export function drawnCenters(rows: readonly CenterRow[]): CenterRow[] {
  const jobs = (row: CenterRow) => Math.max(row.before?.figures.jobs ?? 0, row.after?.figures.jobs ?? 0)
  const chosen = new Set([...rows].sort((a, b) => jobs(b) - jobs(a)).slice(0, mostDrawn))
  return rows.filter((row) => chosen.has(row))
}

const axisUnits = [{ unit: 'd', seconds: 86_400 }, { unit: 'h', seconds: 3_600 }, { unit: 'min', seconds: 60 }, { unit: 's', seconds: 1 }] as const

/** The unit of a time axis: the largest of which the axis has three or more, else seconds. */
export function axisUnit(span_s: number): (typeof axisUnits)[number] {
  return axisUnits.find(({ seconds }) => span_s >= 3 * seconds) ?? axisUnits[3]
}
