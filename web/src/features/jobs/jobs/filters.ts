import { type JobFilters, jobStates } from '../../../queries/jobs'

/** Filters out of an address; what makes no sense in it is left out rather than asked for. */
export function parseJobFilters(raw: { label: string; state: string; project: string }): JobFilters {
  return {
    label: raw.label === 'probe' || raw.label === 'all' ? raw.label : 'job',
    state: jobStates.find((state) => state === raw.state) ?? '',
    project: raw.project.trim(),
  }
}
