import { describe, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { fill, type Translate } from '../../../i18n/language'
import { zh } from '../../../i18n/zh'
import { phasesOf, stagingFacts } from './staging'

const english: Translate = (key, values) => fill(en[key], values)
const chinese: Translate = (key, values) => fill(zh[key], values)
const nothing = { in_s: 0, in_bytes: 0, in_cached_bytes: 0, out_s: 0, out_bytes: 0 }
const both = { in_s: 12, in_bytes: 3 * 2 ** 30, in_cached_bytes: 2 ** 30, out_s: 3, out_bytes: 2 ** 20 }

describe('what staging took', () => {
  it('is nothing where nothing was staged, or its center does not say', () => {
    expect(stagingFacts(null, english)).toEqual([])
    expect(stagingFacts({ staging: null, run_s: 30 }, english)).toEqual([])
    expect(phasesOf({ staging: null, run_s: 30, outcome: 'exited' }, english)).toEqual([])
  })

  it('is told apart from what the units were held', () => {
    expect(stagingFacts({ staging: both, run_s: 60 }, english)).toEqual([
      ['Inputs staged', '3.00 GiB (1.00 GiB of it kept of earlier jobs) in 12.0 s'],
      ['Outputs staged', '1.00 MiB in 3.00 s'],
      ['Units held', '1 min'],
    ])
    expect(stagingFacts({ staging: both, run_s: 60 }, chinese)[1]).toEqual(['输出存储', '1.00 MiB，用时 3.00 s'])
  })

  it('leaves out what a job does not have, and keeps what failed before anything was complete', () => {
    expect(stagingFacts({ staging: { ...nothing, in_s: 2 }, run_s: 2 }, english)).toEqual([['Inputs staged', '0 B in 2.00 s'], ['Units held', '2.00 s']])
    expect(stagingFacts({ staging: { ...nothing, out_s: 1, out_bytes: 5 }, run_s: null }, english)).toEqual([['Outputs staged', '5 B in 1.00 s'], ['Units held', '–']])
  })

  it('is told while inputs are fetched', () => {
    const progress = { complete: 1, inputs: 3, bytes: 2 * 2 ** 30, total_bytes: 4 * 2 ** 30, elapsed_s: 60 }
    const facts = (staging_progress: typeof progress | (Omit<typeof progress, 'total_bytes'> & { total_bytes: null }), t: Translate) =>
      stagingFacts({ staging: null, staging_progress, run_s: null }, t)
    expect(facts(progress, english)).toEqual([['Inputs being fetched', '1 of 3, 2.00 GiB of 4.00 GiB in 1 min']])
    expect(facts({ ...progress, total_bytes: null }, english)).toEqual([['Inputs being fetched', '1 of 3, 2.00 GiB in 1 min']])
    expect(facts(progress, chinese)).toEqual([['正在获取输入', '共 3 个，已完成 1 个；2.00 GiB（共 4.00 GiB），用时 1 min']])
  })

  it('is a part of the attempt, before and after the command', () => {
    expect(phasesOf({ staging: both, run_s: 60, outcome: 'exited' }, english)).toEqual([
      { id: 'in', seconds: 12, share: 0.2, moved: '3.00 GiB (1.00 GiB of it kept of earlier jobs)' },
      { id: 'command', seconds: 45, share: 0.75, moved: null },
      { id: 'out', seconds: 3, share: 0.05, moved: '1.00 MiB' },
    ])
    expect(phasesOf({ staging: { ...nothing, in_s: 5 }, run_s: 4, outcome: 'cancelled' }, english).map(({ id, seconds, share }) => [id, seconds, share])).toEqual([['in', 5, 1], ['command', 0, 0]])
    expect(phasesOf({ staging: both, run_s: null, outcome: 'lost' }, english)).toEqual([])
  })

  it('has no part for a command that was never started', () => {
    expect(phasesOf({ staging: { ...nothing, in_s: 2 }, run_s: 20, outcome: 'failed_to_start' }, english)).toEqual([])
  })
})
