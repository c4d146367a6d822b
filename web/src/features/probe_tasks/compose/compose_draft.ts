import type { TextKey } from '../../../i18n/en'
import type { OperatorUse } from '../../../queries/operator_library'
import type { JobOperators } from '../../../queries/jobs'
import type { ProbeTaskOrder } from '../../../queries/probe_tasks'
import { flowSteps } from '../flow'

/** An operator that may go into the task; figures are what was typed. */
export interface ComposeLine {
  id: string
  label: string
  parameters: Readonly<Record<string, string>>
  /** In the whole job; null: it was not in the job. */
  jobCount: number | null
  share: number | null
  isPicked: boolean
  /** In the task; '' follows the ratio. */
  count: string
  inputs: readonly string[]
}

export interface ComposeDraft {
  name: string
  jobType: string
  ratio: string
  limitS: string
  repeats: string
  lines: readonly ComposeLine[]
}

/** A count of a job in its probe task (M4): by the ratio, rounded, at least 1. */
export function scaleCount(count: number, ratio: number): number {
  return Math.max(1, Math.round(count / ratio))
}

export function linesOf(operators: JobOperators['operators']): ComposeLine[] {
  return operators.map((operator, i) => ({
    id: operator.id, label: operator.label ?? `P${i + 1}`, jobCount: operator.count, share: operator.share, isPicked: false, count: '',
    parameters: Object.fromEntries(Object.entries(operator.parameters).map(([name, value]) => [name, String(value)])), inputs: operator.inputs ?? [],
  }))
}

function positive(text: string): number | null {
  const value = Number(text.trim())
  return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : null
}

export function countOf(line: ComposeLine, ratio: number): number | null {
  if (line.count.trim() === '') return line.jobCount === null ? 1 : scaleCount(line.jobCount, ratio)
  const count = positive(line.count)
  return count !== null && Number.isInteger(count) ? count : null
}

function useOf(line: ComposeLine, ratio: number, labels: ReadonlySet<string>): OperatorUse | null {
  const count = countOf(line, ratio)
  const values = Object.entries(line.parameters).filter(([, text]) => text.trim() !== '').map(([name, text]) => [name, Number(text)] as const)
  if (count === null || values.some(([, value]) => !Number.isInteger(value) || value < 0)) return null
  const inputs = line.inputs.filter((label) => labels.has(label))
  return {
    id: line.id, count, label: line.label, ...(values.length > 0 ? { parameters: Object.fromEntries(values) as Record<string, number> } : {}),
    ...(line.share === null ? {} : { share: line.share }), ...(inputs.length > 0 ? { inputs } : {}),
  }
}

/** What POST /probe-tasks takes, or what is not right yet. */
export function toTaskOrder(draft: ComposeDraft, fromJob: string): { order: ProbeTaskOrder | null; wrong: TextKey | null } {
  const picked = draft.lines.filter((line) => line.isPicked)
  const ratio = positive(draft.ratio)
  const limit = positive(draft.limitS)
  const repeats = positive(draft.repeats)
  if (picked.length === 0) return { order: null, wrong: 'compose.wrong.none' }
  if (draft.name.trim() === '') return { order: null, wrong: 'compose.wrong.name' }
  const uses = picked.map((line) => useOf(line, ratio ?? 1, new Set(picked.map((one) => one.label))))
  if (ratio === null || limit === null || repeats === null || !Number.isInteger(repeats) || uses.includes(null)) return { order: null, wrong: 'compose.wrong.count' }
  const operators = uses as OperatorUse[]
  if (!flowSteps(operators.map((use) => ({ label: use.label ?? '', inputs: use.inputs ?? [] })))) return { order: null, wrong: 'compose.wrong.cycle' }
  return {
    wrong: null,
    order: {
      document: { name: draft.name.trim(), operators, limit_s: limit, repeats },
      ...(fromJob ? { from_job: fromJob } : {}), ...(draft.jobType.trim() ? { job_type: draft.jobType.trim() } : {}),
    },
  }
}
