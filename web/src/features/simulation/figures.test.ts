import { describe, expect, it } from 'vitest'
import type { SimulatedCase, Simulation, SimulationFigures } from '../../queries/simulations'
import { axisUnit, centerRows, changeOf, drawnCenters, figureRows, waitClasses } from './figures'

const figures = (part: Partial<SimulationFigures> = {}): SimulationFigures => ({
  jobs: 4, ended: 4, unfinished: 0, impossible: 0, mean_completion_s: 100, median_completion_s: 90, p95_completion_s: 200, p99_completion_s: 210,
  mean_wait_s: 40, p95_wait_s: 60, max_wait_s: 70, mean_slowdown: 1.5, p95_slowdown: 2, max_slowdown: 3, utilization: 0.8, cost: null, energy_kwh: 0,
  idle_energy_kwh: 0, with_deadline: 0, missed_deadline: 0, failed_attempts: 0, jain_projects: 1, jain_jobs: 1, mean_finish_time_fairness: 1,
  p95_finish_time_fairness: 1, unfair_share: 0, prediction_error: null, ...part })

const one = (centers: SimulatedCase['centers'], part: Partial<SimulatedCase> = {}): SimulatedCase => ({
  policy: 'fathom', figures: figures(), centers, left_out: [], waits: [3, 0, 1], moments: [], ...part })

const center = (name: string, jobs = 1) => ({ center: name, unit_count: 1, figures: figures({ jobs }) })

const simulation = (before: SimulatedCase, after: SimulatedCase): Simulation => ({
  since: '2026-01-01T00:00:00Z', until: '2026-01-08T00:00:00Z', job_count: 4, waiting_count: 0, is_cut: false, left_out: [], notes: [], currency: null, seed: 1,
  is_partial: false, wait_bounds_s: [1, 60], before, after })

describe('the figures of a simulation', () => {
  it('stand beside each other, without those that nobody has', () => {
    const rows = figureRows(simulation(one([]), one([], { figures: figures({ mean_wait_s: 10 }) })))
    expect(rows.find((row) => row.name === 'mean_wait_s')).toEqual({ name: 'mean_wait_s', kind: 'seconds', before: 40, after: 10 })
    expect(rows.map((row) => row.name)).not.toContain('cost')
    expect(rows.map((row) => row.name)).not.toContain('missed_deadline')
  })

  it('have a difference where that says something', () => {
    expect(changeOf(40, 10)).toBe(-0.75)
    expect(changeOf(0, 10)).toBeNull()
    expect(changeOf(null, 10)).toBeNull()
  })

  it('are of centers that were there, are new, or are gone', () => {
    const rows = centerRows(simulation(one([center('alpha'), center('beta')]), one([center('beta'), center('gamma')])))
    expect(rows.map((row) => [row.center, row.before !== null, row.after !== null])).toEqual([['alpha', true, false], ['beta', true, true], ['gamma', false, true]])
  })

  it('are drawn of the centers with most jobs, in their order', () => {
    const many = Array.from({ length: 40 }, (_, i) => center(`c${i}`, i))
    const drawn = drawnCenters(centerRows(simulation(one(many), one(many))))
    expect(drawn.map((row) => row.center)).toEqual(many.slice(10).map((row) => row.center))
  })

  it('count waits by class, the last without end', () => {
    expect(waitClasses(simulation(one([]), one([], { waits: [4, 0, 0] })))).toEqual([
      { from: 0, to: 1, before: 3, after: 4 }, { from: 1, to: 60, before: 0, after: 0 }, { from: 60, to: null, before: 1, after: 0 }])
  })

  it('are drawn over a time whose unit fits how long it is', () => {
    expect([0, 100, 200, 3 * 3600, 2 * 86_400, 4 * 86_400].map((span_s) => axisUnit(span_s).unit)).toEqual(['s', 's', 'min', 'h', 'h', 'd'])
  })
})
