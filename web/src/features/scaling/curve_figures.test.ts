import { expect, it } from 'vitest'
import type { ScalingCurve } from '../../queries/scaling_curves'
import { baseRate, measuredOf, modelOf, namesOf } from './curve_figures'
import { seriesOf } from './curve_series'

const curve: ScalingCurve = {
  center_id: 'c', center: 'alpha', unit_type_id: 'u', unit_type: 'core', operator: 'dgemm', parameters: { m: 8 }, measured_at: '2026-01-01T00:00:00Z',
  points: [{ unit_count: 1, rate: 10, model_rate: 10, low: 10, high: 10, efficiency: 1 }, { unit_count: 4, rate: 30, model_rate: 30, low: 28, high: 32, efficiency: 0.75 }],
  curve: [{ unit_count: 2, rate: 18, low: 16, high: 20 }],
}

it('rates are told against one unit', () => {
  expect(baseRate(curve)).toBe(10)
  expect(measuredOf(curve, 'efficiency').map((f) => f.value)).toEqual([1, 0.75])
  expect(measuredOf(curve, 'speedup').map((f) => f.value)).toEqual([1, 3])
  expect(modelOf(curve, 'efficiency')).toEqual([{ units: 2, value: 0.9, low: 0.8, high: 1 }])
  expect(modelOf(curve, 'rate')[0]?.value).toBe(18)
})

it('without points there is nothing to tell against', () => {
  const bare: ScalingCurve = { ...curve, points: [] }
  expect(baseRate(bare)).toBeNull()
  expect(measuredOf(bare, 'speedup')).toEqual([])
})

it('curves of one operator that differ in size have names of their own', () => {
  const other: ScalingCurve = { ...curve, parameters: { m: 16 } }
  const beta: ScalingCurve = { ...curve, center: 'beta' }
  expect(namesOf([curve, other, beta])).toEqual(['alpha/core dgemm m=8', 'alpha/core dgemm m=16', 'beta/core dgemm'])
})

it('all that is drawn of a curve has its name, the model first, so that the legend hides it as a whole', () => {
  const series = seriesOf({ ...curve, knee: 2 }, 'alpha', 0, 'rate', 'light', (key) => key)
  expect(series.map((one) => one.name)).toEqual(['alpha', 'alpha', 'alpha', 'alpha', 'alpha'])
  expect(series[0]).toMatchObject({ type: 'line', data: [[2, 18]] })
  expect(series.at(-1)).toMatchObject({ type: 'scatter', symbol: 'diamond', data: [[2, 18]] })
})
