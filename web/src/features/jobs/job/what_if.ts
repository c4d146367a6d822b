import type { JobSpec } from '../../../queries/jobs'

/** What a person would have otherwise about a job, as it stands in the address; '': as the job says. */
export interface WhatIf {
  /** A number of units, or auto. */
  count: string
  prefer: string
  /** RFC 3339. */
  deadline: string
  budget: string
  currency: string
  /** Its name; * for any. */
  center: string
}

/** A job that ran or waits as one to be placed now: without what answers do not have of it, and without a past deadline. */
export function asNow(spec: JobSpec, now: number): JobSpec {
  const left = new Set(['secret_environment', ...(spec.deadline && Date.parse(spec.deadline) <= now ? ['deadline'] : [])])
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !left.has(name)))
}

/** Whether anything would be otherwise; a currency alone is nothing. */
export function isOtherwise(whatIf: WhatIf): boolean {
  return Object.entries(whatIf).some(([name, value]) => name !== 'currency' && value !== '')
}

/** The job with what would be otherwise. What makes no sense is sent as it is: the server says what is wrong with it. */
export function otherwise(spec: JobSpec, whatIf: WhatIf): JobSpec {
  const changed: JobSpec = { ...spec }
  const units = { ...spec.units }
  if (whatIf.count) {
    units.count = /^\d+$/.test(whatIf.count) ? Number(whatIf.count) : (whatIf.count as 'auto')
    // Limits of "auto" say nothing of a count of one's own.
    delete units.min
    delete units.max
  }
  if (whatIf.center === '*') delete units.center
  else if (whatIf.center) units.center = whatIf.center
  if (whatIf.count || whatIf.center) changed.units = units
  if (whatIf.prefer) changed.prefer = whatIf.prefer as 'fastest'
  if (whatIf.deadline) changed.deadline = whatIf.deadline
  if (whatIf.budget) changed.budget = { amount: whatIf.budget, currency: whatIf.currency || (spec.budget?.currency ?? '') }
  return changed
}
