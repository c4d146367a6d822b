import { describe, expect, it } from 'vitest'
import type { JobEvent } from '../../../api/events'
import { attemptsOf } from './attempts'

let id = 0
const event = (at: string, state: JobEvent['state'], cause: string, evidence: Record<string, unknown> = {}): JobEvent =>
  ({ id: ++id, job_id: 'job_1', at, state, cause, evidence: evidence as JobEvent['evidence'] })

describe('the attempts of a job', () => {
  it('are none before it is placed', () => {
    expect(attemptsOf([event('1', 'queued', 'submitted', { submitted_by: 'tok_1' })])).toEqual([])
  })

  it('each have a place, a beginning, an end and a reason', () => {
    const attempts = attemptsOf([
      event('1', 'queued', 'submitted'),
      event('2', 'placed', 'placed at alpha/core', { attempt_id: 'a', center: 'alpha', unit_type: 'core', unit_count: 2, run_s: 9 }),
      event('3', 'dispatched', 'center alpha has the job', { attempt_id: 'a' }),
      event('4', 'queued', 'lost: its center is gone: placed anew', { attempt_id: 'a', center: 'alpha' }),
      event('5', 'placed', 'placed at beta/core', { attempt_id: 'b', center: 'beta', unit_type: 'core', unit_count: 1, run_s: 9 }),
      event('6', 'running', 'started at center beta', { attempt_id: 'b', started_at: '5.5', cpus: [0], units: [0] }),
      event('7', 'failed', 'the program ended with 3', { attempt_id: 'b', outcome: 'exited', run_s: 1.5, detail: '', center: 'beta' }),
    ])
    expect(attempts).toEqual([
      { id: 'a', number: 1, center: 'alpha', unitType: 'core', unitCount: 2, placedAt: '2', startedAt: null, endedAt: '4', runS: null, outcome: null,
        state: 'queued', reason: 'lost: its center is gone: placed anew' },
      { id: 'b', number: 2, center: 'beta', unitType: 'core', unitCount: 1, placedAt: '5', startedAt: '5.5', endedAt: '7', runS: 1.5, outcome: 'exited',
        state: 'failed', reason: 'the program ended with 3' },
    ])
  })

  it('have no end while they run', () => {
    const [attempt] = attemptsOf([event('2', 'placed', '', { attempt_id: 'a', center: 'alpha' }), event('3', 'running', '', { attempt_id: 'a' }),
      event('4', 'lost', '', { attempt_id: 'a', center: 'alpha' }), event('5', 'running', '', { attempt_id: 'a', center: 'alpha' })])
    expect(attempt).toMatchObject({ state: 'running', startedAt: '3', endedAt: null, outcome: null, reason: '' })
  })
})
