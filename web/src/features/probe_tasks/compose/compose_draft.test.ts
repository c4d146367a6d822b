import { describe, expect, it } from 'vitest'
import { type ComposeDraft, type ComposeLine, scaleCount, toTaskOrder } from './compose_draft'

const line = (label: string, more: Partial<ComposeLine> = {}): ComposeLine => ({
  id: 'dgemm', label, parameters: { m: '512' }, jobCount: 3000, share: 0.5, isPicked: true, count: '', inputs: [], ...more })
const draft = (lines: ComposeLine[]): ComposeDraft => ({ name: 'solver', jobType: '', ratio: '1000', limitS: '10', repeats: '7', lines })

it('counts are scaled down (M4)', () => {
  expect([3000, 2000, 1000].map((count) => scaleCount(count, 1000))).toEqual([3, 2, 1])
  expect(scaleCount(1, 1000)).toBe(1)
})

describe('a composed task', () => {
  it('has what was picked, with data flow among that only', () => {
    const { order } = toTaskOrder(draft([line('P1'), line('P2', { isPicked: false }), line('P3', { count: '2', inputs: ['P1', 'P2'], share: null })]), 'job_1')
    expect(order).toEqual({
      from_job: 'job_1',
      document: { name: 'solver', limit_s: 10, repeats: 7, operators: [
        { id: 'dgemm', count: 3, label: 'P1', parameters: { m: 512 }, share: 0.5 },
        { id: 'dgemm', count: 2, label: 'P3', parameters: { m: 512 }, inputs: ['P1'] }] },
    })
  })

  it('says what is not right', () => {
    expect(toTaskOrder(draft([]), '').wrong).toBe('compose.wrong.none')
    expect(toTaskOrder({ ...draft([line('P1')]), name: ' ' }, '').wrong).toBe('compose.wrong.name')
    expect(toTaskOrder(draft([line('P1', { count: '0' })]), '').wrong).toBe('compose.wrong.count')
    expect(toTaskOrder(draft([line('P1', { inputs: ['P2'] }), line('P2', { inputs: ['P1'] })]), '').wrong).toBe('compose.wrong.cycle')
  })
})
