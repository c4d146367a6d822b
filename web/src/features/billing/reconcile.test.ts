import { describe, expect, it } from 'vitest'
import type { UsageRecord } from '../../queries/usage'
import { compareUsage, parseElapsed, parseSacct } from './reconcile'

const record = (attempt: string | null, seconds: number) => ({
  attempt_id: attempt, job_id: 'job_1', from: '2026-11-25T10:00:00Z', until: new Date(Date.parse('2026-11-25T10:00:00Z') + seconds * 1000).toISOString(),
}) as UsageRecord

describe('what the batch system accounted', () => {
  it('has times as sacct writes them', () => {
    expect(['90', '01:30', '02:00:05', '1-00:00:01', '0', 'x', '', '1:2:3:4'].map(parseElapsed)).toEqual([90, 90, 7205, 86401, 0, null, null, null])
  })

  it('is read by the names in its first line, and only where it is ours', () => {
    expect(parseSacct('JobName|Elapsed|ElapsedRaw\natt_1|00:00:09|10\r\natt_1|x|5\nother|00:01:00|60\n\n').elapsed).toEqual(new Map([['att_1', 15]]))
    expect(parseSacct('JobName|Elapsed\natt_1|00:00:09').elapsed).toEqual(new Map([['att_1', 9]]))
  })

  it('says what it could not read', () => {
    expect(parseSacct('JobID|State\n1|COMPLETED').wrong).toEqual({ kind: 'head' })
    expect(parseSacct('JobName|ElapsedRaw\natt_1|soon').wrong).toEqual({ kind: 'time', text: 'soon' })
  })

  it('is compared attempt by attempt, by the newest revision', () => {
    const records = [record('att_1', 10), record('att_1', 99), record('att_2', 20), record('att_3', 30), record(null, 5)]
    const elapsed = new Map([['att_1', 11], ['att_2', 26], ['att_9', 4]])
    expect(compareUsage(records, elapsed, 2)).toEqual({
      attempts: 4, ours: 60, theirs: 41,
      differences: [
        { attempt: 'att_2', job: 'job_1', ours: 20, theirs: 26 }, { attempt: 'att_3', job: 'job_1', ours: 30, theirs: null },
        { attempt: 'att_9', job: null, ours: null, theirs: 4 },
      ],
    })
  })
})
