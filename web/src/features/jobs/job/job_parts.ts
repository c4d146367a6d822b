import { hasEnded, type Job, type JobState } from '../../../queries/jobs'
import { shownUrl } from './job_data'

type JobSteps = NonNullable<Job['steps']>
type Part = JobSteps['parts'][number]

/** Of a divided job: where and how a part runs. */
export interface PartRow {
  /** 1 for the first. */
  number: number
  steps: string[]
  isOnGpu: boolean
  /** Where it ran, runs, or is to run; '': that is open. */
  center: string
  unitType: string
  /** null: it has not begun; `isDropped` says whether it ever will. */
  state: JobState | null
  /** The job ended before it began. */
  isDropped: boolean
  startedAt: string | null
  endedAt: string | null
  /** As the division was decided by, with handing on. */
  plannedS: number
  /** What its placement predicts of its programs. */
  placed: Part['placed']
  runS: number | null
  handsOn: { path: string; url: string }[]
  /** Of what it hands on, as its owner says. */
  handsOnBytes: number | null
}

/** The part whose turn it is has the job's newest attempt, unless that is of the part before. */
function attemptNow(job: Job, steps: JobSteps): Job['attempt'] {
  const before = steps.parts[steps.part - 1]
  return job.attempt && job.attempt.id !== before?.attempt_id ? job.attempt : null
}

function stateOf(job: Job, part: Part, isNow: boolean): JobState | null {
  if (part.attempt_id !== null) return 'succeeded'
  return isNow ? job.state : null
}

function rowOf(job: Job, steps: JobSteps, part: Part, index: number): PartRow {
  const isNow = index === steps.part
  const attempt = isNow ? attemptNow(job, steps) : null
  const place = part.place ?? (attempt ? `${attempt.center}/${attempt.unit_type}` : '/')
  const slash = place.indexOf('/')
  const state = stateOf(job, part, isNow)
  const last = part.first_step + part.step_count
  const handing = last < steps.items.length ? steps.items[last - 1] : undefined
  return {
    number: index + 1,
    steps: steps.items.slice(part.first_step, last).map((step) => step.name),
    isOnGpu: part.device === 'gpu',
    center: place.slice(0, slash),
    unitType: place.slice(slash + 1),
    state,
    isDropped: state === null && hasEnded(job.state),
    startedAt: part.started_at ?? attempt?.started_at ?? null,
    endedAt: part.ended_at ?? attempt?.ended_at ?? null,
    plannedS: part.predicted_s,
    placed: part.placed ?? null,
    runS: part.run_s ?? attempt?.run_s ?? null,
    handsOn: (handing?.hands_on ?? []).map(({ path, url }) => ({ path, url: shownUrl(url) })),
    handsOnBytes: handing?.hands_on?.length ? handing.out_bytes ?? null : null,
  }
}

/** The parts that a job is divided into, in the order in which they run; none of one that runs whole. */
export function partsOf(job: Job): PartRow[] {
  const { steps } = job
  return steps ? steps.parts.map((part, i) => rowOf(job, steps, part, i)) : []
}
