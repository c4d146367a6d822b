import { describe, expect, it } from 'vitest'
import { emptyDraft, parseCounts, toDraft, toOrder } from './order_draft'

describe('an order of probe runs', () => {
  it('names operators with the sizes that were typed', () => {
    const { order } = toOrder({ ...emptyDraft, operators: [{ id: 'dgemm', parameters: { m: '512', n: '', k: ' 64 ' }, count: '' }] })
    expect(order).toEqual({ operators: [{ id: 'dgemm', count: 1, parameters: { m: 512, k: 64 } }], selection: 'catalog', unit_count: 1 })
  })

  it('says what is missing', () => {
    expect(toOrder(emptyDraft).wrong).toEqual({ operators: 'runs.wrong.operators' })
    expect(toOrder({ ...emptyDraft, what: 'full_benchmark', selection: 'user', counting: 'several', counts: '1,x' }).wrong)
      .toEqual({ unitTypes: 'runs.wrong.unit_types', counts: 'runs.wrong.counts' })
    expect(toOrder({ ...emptyDraft, operators: [{ id: 'dgemm', parameters: { m: '1.5' }, count: '1' }] }).wrong).toEqual({ operators: 'runs.wrong.figures' })
  })

  it('leaves the count to whoever shall choose it', () => {
    expect(toOrder({ ...emptyDraft, what: 'task', task: 'ptk_1', selection: 'center', centers: ['alpha'], counting: 'center' }).order)
      .toEqual({ probe_task_id: 'ptk_1', selection: 'center', centers: ['alpha'], count_by: 'center' })
  })

  it('asks for copies side by side, of which there are two at least', () => {
    const draft = { ...emptyDraft, what: 'full_benchmark' as const, copies: true }
    expect(toOrder(draft).wrong).toEqual({ count: 'runs.wrong.count' })
    expect(toOrder({ ...draft, counting: 'several', counts: '1, 2' }).wrong).toEqual({ counts: 'runs.wrong.counts' })
    expect(toOrder({ ...draft, count: '4' }).order).toEqual({ selection: 'catalog', unit_count: 4, mode: 'throughput' })
    expect(toDraft({ mode: 'throughput' })).toMatchObject({ copies: true, counting: 'scaling' })
  })

  it('comes back as it was', () => {
    const order = { operators: [{ id: 'dgemm', count: 2, parameters: { m: 8 } }], selection: 'user' as const, unit_types: ['alpha/core'], unit_counts: [1, 2] }
    expect(toOrder(toDraft(order)).order).toEqual(order)
    expect(toDraft({}).what).toBe('full_benchmark')
  })
})

it('counts are read however they are divided', () => {
  expect(parseCounts('4, 1 2;2')).toEqual([1, 2, 4])
  expect(parseCounts('')).toBeNull()
  expect(parseCounts('0')).toBeNull()
})
