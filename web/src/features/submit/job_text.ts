import { parse } from 'yaml'
import type { Job, JobSpec } from '../../queries/jobs'
import type { Format } from '../../ui/document_text'

/** The job of a text, or why it is none. YAML is a superset of JSON, so either may be pasted where YAML is expected. */
export function readJob(text: string, format: Format): { spec: JobSpec; error: null } | { spec: null; error: string } {
  let value: unknown
  try {
    // maxAliasCount: a text of a few lines must not become a tree of gigabytes.
    value = format === 'json' ? JSON.parse(text) : parse(text, { maxAliasCount: 20 })
  } catch (error) {
    return { spec: null, error: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' }
  }
  if (value === null && format === 'yaml') return { spec: {}, error: null }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { spec: null, error: 'not an object' }
  return { spec: value as JobSpec, error: null }
}

/** A job with fields changed: an empty text, undefined, or an empty list or object removes a field. */
export function changeJob(spec: JobSpec, change: Partial<JobSpec>): JobSpec {
  return Object.fromEntries(Object.entries({ ...spec, ...change }).filter(([name, value]) => !(name in change && isEmpty(value))))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** Whether there is enough of a job to ask where it would go. */
export function canPreview(spec: JobSpec): boolean {
  return Boolean(spec.script) || Boolean(spec.command?.length) || Boolean(spec.steps?.length)
}

/** A job to submit anew, out of one that was: without what is forgotten of it, and without its past deadline. */
export function jobAgain({ spec, steps }: Pick<Job, 'spec' | 'steps'>): JobSpec {
  const left = ['secret_environment', 'deadline'] // answers hold names of secrets only
  if (steps) left.push('command', 'script', 'operators', 'inputs') // of all steps together
  const again: JobSpec = Object.fromEntries(Object.entries(spec).filter(([name, value]) => !left.includes(name) && !isEmpty(value)))
  return steps ? { ...again, split: steps.split, steps: steps.items } : again
}
