import type { ScoreEvidence } from '../../queries/usage'

type Part = ScoreEvidence['parts'][number]

/** The probe runs whose results made a score together, the newest first; older evidence names the newest only. */
export function runsOf(part: Pick<Part, 'probe_run_id' | 'probe_run_ids'>): string[] {
  return part.probe_run_ids ?? (part.probe_run_id ? [part.probe_run_id] : [])
}
