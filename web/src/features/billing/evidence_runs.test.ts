import { expect, it } from 'vitest'
import { runsOf } from './evidence_runs'

it('names all runs that made a score', () => {
  expect(runsOf({ probe_run_id: 'prn_2', probe_run_ids: ['prn_2', 'prn_1'] })).toEqual(['prn_2', 'prn_1'])
})

it('names the newest run of evidence from before there were several', () => {
  expect(runsOf({ probe_run_id: 'prn_2' })).toEqual(['prn_2'])
  expect(runsOf({ probe_run_id: null })).toEqual([])
})
