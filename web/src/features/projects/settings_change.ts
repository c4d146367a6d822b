import type { Project, ProjectChange } from '../../queries/projects'

/** The settings as a form holds them: texts, so that nothing typed is lost. */
export interface Typed {
  share: string
  most_units: string
  most_score_hours: string
  most_cost: string
  centers: string
  profile_jobs: boolean
}

export function typedOf(project: Project | null): Typed {
  return {
    share: String(project?.share ?? 1), most_units: String(project?.most_units ?? 0), most_score_hours: String(project?.most_score_hours ?? 0),
    most_cost: project?.most_cost ?? '0', centers: (project?.centers ?? []).join(', '), profile_jobs: project?.profile_jobs ?? false,
  }
}

const number = /^\d+(\.\d+)?$/
const shapes: Record<'share' | 'most_units' | 'most_score_hours' | 'most_cost', RegExp> = {
  share: number, most_units: /^\d+$/, most_score_hours: number, most_cost: /^\d{1,12}(\.\d{1,6})?$/,
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
  if (after.most_units.trim() !== before.most_units) change.most_units = Number(after.most_units)
  if (after.most_score_hours.trim() !== before.most_score_hours) change.most_score_hours = Number(after.most_score_hours)
  if (after.most_cost.trim() !== before.most_cost) change.most_cost = after.most_cost.trim()
  if (names(after.centers).join(',') !== names(before.centers).join(',')) change.centers = names(after.centers)
  return change
}
