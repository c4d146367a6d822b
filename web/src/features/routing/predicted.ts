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

export function predictedInterval(candidate: Candidate): string {
  const { prediction } = candidate
  return prediction && isKnown(candidate) ? `${formatDuration(prediction.low_s)} – ${formatDuration(prediction.high_s)}` : nothing
}
