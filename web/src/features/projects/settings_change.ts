import type { Project, ProjectChange } from '../../queries/projects'

/** The settings as a form holds them: texts, so that nothing typed is lost. */
export interface Typed {
  share: string
  max_units: string
  max_score_hours: string
  max_cost: string
  centers: string
  profile_jobs: boolean
}

export function typedOf(project: Project | null): Typed {
  return {
    share: String(project?.share ?? 1), max_units: String(project?.max_units ?? 0), max_score_hours: String(project?.max_score_hours ?? 0),
    max_cost: project?.max_cost ?? '0', centers: (project?.centers ?? []).join(', '), profile_jobs: project?.profile_jobs ?? false,
  }
}

const number = /^\d+(\.\d+)?$/
const shapes: Record<'share' | 'max_units' | 'max_score_hours' | 'max_cost', RegExp> = {
  share: number, max_units: /^\d+$/, max_score_hours: number, max_cost: /^\d{1,12}(\.\d{1,6})?$/,
}

/** Names of the fields that hold no figure of their kind. */
export function wrongFields(typed: Typed): (keyof typeof shapes)[] {
  return (Object.keys(shapes) as (keyof typeof shapes)[]).filter((name) => !shapes[name].test(typed[name].trim()))
}

function names(text: string): string[] {
  return text.split(',').map((name) => name.trim()).filter((name) => name !== '')
}

/** What differs between what was read and what is typed: only that is sent, so that the rest stays as others set it. */
export function changeOf(before: Typed, after: Typed): ProjectChange {
  const change: { -readonly [Key in keyof ProjectChange]: ProjectChange[Key] } = {}
  if (after.profile_jobs !== before.profile_jobs) change.profile_jobs = after.profile_jobs
  if (after.share.trim() !== before.share) change.share = Number(after.share)
  if (after.max_units.trim() !== before.max_units) change.max_units = Number(after.max_units)
  if (after.max_score_hours.trim() !== before.max_score_hours) change.max_score_hours = Number(after.max_score_hours)
  if (after.max_cost.trim() !== before.max_cost) change.max_cost = after.max_cost.trim()
  if (names(after.centers).join(',') !== names(before.centers).join(',')) change.centers = names(after.centers)
  return change
}
