import type { Candidate } from '../../queries/placement_preview'
import { formatDuration, nothing } from '../../ui/format'

/** Whether a place's run time rests on anything: operators that were measured, or earlier runs. Else it is zero, which it is not. */
function isKnown(candidate: Candidate): boolean {
  return Boolean(candidate.prediction && (candidate.prediction.operators.length > 0 || candidate.run_basis))
}

/** A run time or what follows from one; at least so long where some operators were never measured there. */
export function predictedDuration(candidate: Candidate, seconds: number | null | undefined): string {
  if (!isKnown(candidate)) return nothing
  const isPart = (candidate.prediction?.unknown_operators ?? 0) > 0 && !candidate.run_basis
  return `${isPart ? '≥ ' : ''}${formatDuration(seconds)}`
}

/** The same for CSV: seconds, or nothing where they rest on nothing. */
export function knownSeconds(candidate: Candidate, seconds: number | null | undefined): number | null | undefined {
  return isKnown(candidate) ? seconds : null
}

/** The interval for CSV: both ends in seconds. */
export function knownInterval(candidate: Candidate): string {
  const { prediction } = candidate
  return prediction && isKnown(candidate) ? `${prediction.low_s} ${prediction.high_s}` : ''
}

/** Until its expected start, as far as that is known; else until its units are free. */
export function expectedWait(candidate: Candidate): number | undefined {
  return candidate.expected_start?.wait_s ?? candidate.start_s ?? candidate.wait_s
}

export function predictedInterval(candidate: Candidate): string {
  const { prediction } = candidate
  return prediction && isKnown(candidate) ? `${formatDuration(prediction.low_s)} – ${formatDuration(prediction.high_s)}` : nothing
}
