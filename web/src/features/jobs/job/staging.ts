import type { Translate } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { formatBytes, formatDuration } from '../../../ui/format'

type Attempt = Pick<NonNullable<Job['attempt']>, 'staging' | 'staging_progress' | 'run_s' | 'outcome'>
type Staging = NonNullable<Attempt['staging']>

/** One part of the time in which an attempt held its units. */
export interface Phase {
  id: 'in' | 'command' | 'out'
  seconds: number
  /** What of all that time it took, 0 to 1. */
  share: number
  /** What was moved meanwhile; null: nothing is moved then. */
  moved: string | null
}

/** 1.20 GiB (300 MiB of it kept of earlier jobs) */
function inputsText({ in_bytes, in_cached_bytes }: Staging, t: Translate): string {
  return in_cached_bytes > 0 ? t('jobs.staging.cached', { size: formatBytes(in_bytes), kept: formatBytes(in_cached_bytes) }) : formatBytes(in_bytes)
}

function hasInputs({ in_s, in_bytes }: Staging): boolean {
  return in_s > 0 || in_bytes > 0
}

function hasOutputs({ out_s, out_bytes }: Staging): boolean {
  return out_s > 0 || out_bytes > 0
}

/** 1 of 3, 4.85 GiB of 19.1 GiB in 1 min 10 s */
function progressText({ complete, inputs, bytes, total_bytes, elapsed_s }: NonNullable<Attempt['staging_progress']>, t: Translate): string {
  const size = total_bytes === null ? formatBytes(bytes) : t('jobs.staging.ofSize', { size: formatBytes(bytes), total: formatBytes(total_bytes) })
  return t('jobs.staging.ofInputs', { complete: String(complete), inputs: String(inputs), took: t('jobs.staging.took', { size, time: formatDuration(elapsed_s) }) })
}

/**
 * How much was staged in how long, and how long the units were held, by name and text; while inputs are fetched, how far that is; nothing
 * where nothing was staged.
 */
export function stagingFacts(attempt: Omit<Attempt, 'outcome'> | null, t: Translate): [string, string][] {
  const progress = attempt?.staging_progress
  if (progress) return [[t('jobs.staging.progress'), progressText(progress, t)]]
  const staging = attempt?.staging
  if (!staging) return []
  const row = (size: string, seconds: number) => t('jobs.staging.took', { size, time: formatDuration(seconds) })
  return [
    ...(hasInputs(staging) ? [[t('jobs.staging.in'), row(inputsText(staging, t), staging.in_s)] as [string, string]] : []),
    ...(hasOutputs(staging) ? [[t('jobs.staging.out'), row(formatBytes(staging.out_bytes), staging.out_s)] as [string, string]] : []),
    [t('jobs.attempt.held'), formatDuration(attempt.run_s)],
  ]
}

/**
 * The time of an attempt in its order: inputs, command, outputs; none where nothing was staged, the command was never started, or the length
 * is not known.
 */
export function phasesOf({ staging, run_s, outcome }: Attempt, t: Translate): Phase[] {
  if (!staging || outcome === 'failed_to_start' || run_s === null || run_s <= 0) return []
  const phase = (id: Phase['id'], seconds: number, moved: string | null): Phase => ({ id, seconds, share: Math.min(1, seconds / run_s), moved })
  return [
    ...(hasInputs(staging) ? [phase('in', staging.in_s, inputsText(staging, t))] : []),
    phase('command', Math.max(0, run_s - staging.in_s - staging.out_s), null),
    ...(hasOutputs(staging) ? [phase('out', staging.out_s, formatBytes(staging.out_bytes))] : []),
  ]
}
