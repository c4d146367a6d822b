import { secondsBetween } from '../../ui/format'
import type { UsageRecord } from '../../queries/usage'

/** How long an attempt held its units, in seconds, by either side; null where that side does not know it. */
export interface Accounted {
  attempt: string
  job: string | null
  ours: number | null
  theirs: number | null
}

export interface Comparison {
  attempts: number
  ours: number
  theirs: number
  differences: readonly Accounted[]
}

/** Seconds of [DD-][HH:]MM:SS, or of a plain number; null where it is neither. */
export function parseElapsed(text: string): number | null {
  const match = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/.exec(text)
  if (!match) return null
  const [, days, ...parts] = match
  const seconds = parts.filter((part) => part !== undefined).reduce((sum, part) => sum * 60 + Number(part), 0)
  return Number(days ?? 0) * 86_400 + seconds
}

export type Parsed = { elapsed: ReadonlyMap<string, number>; wrong: null } | { elapsed: null; wrong: { kind: 'head' } | { kind: 'time'; text: string } }

/** What `sacct -P --format=JobName,ElapsedRaw` printed: the attempt's id is the name of its job in the batch system. */
export function parseSacct(text: string): Parsed {
  const [head = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const heads = head.split('|')
  const nameAt = heads.indexOf('JobName')
  const timeAt = heads.includes('ElapsedRaw') ? heads.indexOf('ElapsedRaw') : heads.indexOf('Elapsed')
  if (nameAt === -1 || timeAt === -1) return { elapsed: null, wrong: { kind: 'head' } }
  const elapsed = new Map<string, number>()
  for (const line of lines) {
    const fields = line.split('|')
    const [name, time] = [fields[nameAt], fields[timeAt]]
    if (!name?.startsWith('att_') || time === undefined) continue
    const seconds = parseElapsed(time)
    if (seconds === null) return { elapsed: null, wrong: { kind: 'time', text: time } }
    elapsed.set(name, (elapsed.get(name) ?? 0) + seconds)
  }
  return { elapsed, wrong: null }
}

/** Each attempt that the two sides account otherwise, beyond a tolerance. Records come newest first: the first of an attempt holds. */
export function compareUsage(records: readonly UsageRecord[], elapsed: ReadonlyMap<string, number>, toleranceS: number): Comparison {
  const all = new Map<string, Accounted>([...elapsed].map(([attempt, theirs]) => [attempt, { attempt, job: null, ours: null, theirs }]))
  for (const record of records) {
    const attempt = record.attempt_id
    const known = attempt ? all.get(attempt) : undefined
    if (!attempt || (known && known.ours !== null)) continue
    all.set(attempt, { attempt, job: record.job_id, ours: secondsBetween(record.from, record.until), theirs: known?.theirs ?? null })
  }
  const list = [...all.values()].sort((a, b) => a.attempt.localeCompare(b.attempt))
  const sum = (side: 'ours' | 'theirs') => list.reduce((total, one) => total + (one[side] ?? 0), 0)
  return {
    attempts: list.length, ours: sum('ours'), theirs: sum('theirs'),
    differences: list.filter((one) => Math.abs((one.ours ?? 0) - (one.theirs ?? 0)) > toleranceS),
  }
}
