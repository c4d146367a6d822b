import { describe, expect, it } from 'vitest'
import { fieldsOf, presets, startFields, toQuestion } from './question'

describe('a question of CPU or GPU', () => {
  it('has the numbers of its form', () => {
    expect(toQuestion(startFields).question).toEqual({
      class: 'quadratic', seconds_per_100mb: 0.2, input_gb: 1, output_fraction: 0.1, machines: 1000, per_aggregation: 10, network_gb_s: 10,
      bus_gb_s: 12.8, gpu_parallelism: 64, core_ratio: 1, threshold: 1 })
  })

  it('leaves to a center what is empty', () => {
    const { question } = toQuestion({ ...startFields, t: '', b: '', m: '', center: 'alpha', compressed: '1' })
    expect(question).toMatchObject({ center: 'alpha', compressed: true })
    expect(question).not.toHaveProperty('seconds_per_100mb')
    expect(toQuestion({ ...startFields, t: '' }).wrong).toEqual({ t: { key: 'speedup.wrong.needed' } })
  })

  it('has an exponent in the class measured alone', () => {
    const measured = { ...startFields, class: 'measured', e: '1.5' }
    expect(toQuestion(measured).question).toMatchObject({ class: 'measured', exponent: 1.5 })
    expect(toQuestion({ ...measured, class: 'quadratic' }).question).not.toHaveProperty('exponent')
    expect(toQuestion({ ...measured, e: '' }).wrong).toEqual({ e: { key: 'speedup.wrong.needed' } })
    expect(toQuestion({ ...measured, e: '', center: 'alpha' }).question).not.toHaveProperty('exponent')
    expect(toQuestion({ ...measured, e: '11' }).wrong).toEqual({ e: { key: 'speedup.wrong.range', values: { low: 0.1, high: 10 } } })
  })

  it('says what is out of range', () => {
    const { wrong } = toQuestion({ ...startFields, t: '11', n: '1.5', c: '0.3', p: 'x' })
    expect(Object.keys(wrong).sort()).toEqual(['n', 'p', 't', 'v'])
    expect(wrong.t).toEqual({ key: 'speedup.wrong.range', values: { low: 0.001, high: 10 } })
  })

  it('comes from an address as it stands there', () => {
    const empty = Object.fromEntries(Object.keys(startFields).map((name) => [name, ''])) as unknown as typeof startFields
    expect(fieldsOf(empty)).toEqual(startFields)
    expect(fieldsOf({ ...empty, n: '5' })).toMatchObject({ n: '5', t: '', class: 'linear' })
    expect(fieldsOf({ ...empty, class: 'measured', e: '1.5' })).toMatchObject({ class: 'measured', e: '1.5' })
  })
})

it('the worked examples are the eight of the specification', () => {
  expect(presets).toHaveLength(8)
  expect(new Set(presets.map((preset) => preset.id)).size).toBe(8)
  expect(presets.every((preset) => toQuestion(preset.fields).question !== null)).toBe(true)
})
