import type { JobEvent } from '../../../api/events'
import type { JobState } from '../../../queries/jobs'

/** One try to run a job, as the job's history tells it. */
export interface PastAttempt {
  id: string
  /** 1 for the first. */
  number: number
  center: string
  unitType: string
  unitCount: number | null
  placedAt: string | null
  startedAt: string | null
  endedAt: string | null
  /** How long it held its units, staging included. */
  runS: number | null
  /** How it ended, in the server's word; null: it has not, or the job was only taken back from its center. */
  outcome: string | null
  /** What its newest event brought the job into. */
  state: JobState
  /** Why it ended, for people; '': it has not. */
  reason: string
}

const ends: readonly JobState[] = ['succeeded', 'failed', 'cancelled']

function textOf(evidence: Record<string, unknown>, name: string): string {
  const value = evidence[name]
  return typeof value === 'string' ? value : ''
}

function numberOf(evidence: Record<string, unknown>, name: string): number | null {
  const value = evidence[name]
  return typeof value === 'number' ? value : null
}

function blank(id: string, number: number, state: JobState): PastAttempt {
  return { id, number, center: '', unitType: '', unitCount: null, placedAt: null, startedAt: null, endedAt: null, runS: null, outcome: null, state, reason: '' }
}

function note(attempt: PastAttempt, { at, state, cause, evidence }: JobEvent) {
  attempt.state = state
  attempt.center = textOf(evidence, 'center') || attempt.center
  attempt.unitType = textOf(evidence, 'unit_type') || attempt.unitType
  attempt.unitCount = numberOf(evidence, 'unit_count') ?? attempt.unitCount
  // A center that reports again after a silence brings the job into its state a second time.
  if (state === 'placed') attempt.placedAt ??= at
  if (state === 'running') attempt.startedAt ??= textOf(evidence, 'started_at') || at
  // A job that waits again has lost its place: this try is over.
  if (!ends.includes(state) && state !== 'queued') return
  attempt.endedAt = at
  attempt.reason = cause
  attempt.outcome = textOf(evidence, 'outcome') || null
  attempt.runS = numberOf(evidence, 'run_s')
}

/** The attempts that a job's events tell of, the oldest first. */
export function attemptsOf(events: readonly JobEvent[]): PastAttempt[] {
  const attempts = new Map<string, PastAttempt>()
  for (const event of events) {
    const id = textOf(event.evidence, 'attempt_id')
    if (!id) continue
    const attempt = attempts.get(id) ?? blank(id, attempts.size + 1, event.state)
    attempts.set(id, attempt)
    note(attempt, event)
  }
  return [...attempts.values()]
}
