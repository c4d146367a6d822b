import type { TextKey } from '../../../i18n/en'
import type { OperatorUse } from '../../../queries/operator_library'
import type { Operator } from '../../../queries/operators'
import type { ProbeRunOrder } from '../../../queries/probe_runs'

/** An operator as it stands in a form: figures are what was typed. '' is the default. */
export interface OperatorLine {
  id: string
  parameters: Readonly<Record<string, string>>
  count: string
}

export interface OrderDraft {
  what: 'operators' | 'task' | 'job_type' | 'full_benchmark'
  operators: readonly OperatorLine[]
  task: string
  force: boolean
  jobType: string
  selection: 'catalog' | 'ask' | 'user' | 'center'
  centers: readonly string[]
  /** center/unit type */
  unitTypes: readonly string[]
  counting: 'one' | 'several' | 'scaling' | 'center'
  count: string
  counts: string
  /** A copy on each unit instead of one run on all. */
  copies: boolean
}

export const emptyDraft: OrderDraft = {
  what: 'operators', operators: [], task: '', force: false, jobType: '', selection: 'catalog', centers: [], unitTypes: [],
  counting: 'one', count: '1', counts: '1, 2, 4', copies: false,
}

export type DraftField = 'what' | 'operators' | 'unitTypes' | 'count' | 'counts'
export type Wrong = Partial<Record<DraftField, TextKey>>

/** A whole number from `least` on; null where the text is none. */
export function wholeNumber(text: string, least = 0): number | null {
  const trimmed = text.trim()
  const value = Number(trimmed)
  return /^\d+$/.test(trimmed) && Number.isSafeInteger(value) && value >= least ? value : null
}

/** "1, 2 4" as [1, 2, 4]: ascending, each once; null where something else stands between them. */
export function parseCounts(text: string): number[] | null {
  const parts = text.split(/[\s,;，；]+/).filter((part) => part !== '')
  const counts = parts.map((part) => wholeNumber(part, 1))
  if (counts.length === 0 || counts.length > 32 || counts.includes(null)) return null
  return [...new Set(counts as number[])].sort((a, b) => a - b)
}

function toUse(line: OperatorLine): OperatorUse | null {
  const count = line.count.trim() === '' ? 1 : wholeNumber(line.count, 1)
  const filled = Object.entries(line.parameters).filter(([, text]) => text.trim() !== '')
  const values = filled.map(([name, text]) => [name, wholeNumber(text)] as const)
  if (count === null || values.some(([, value]) => value === null)) return null
  const parameters = Object.fromEntries(values) as Record<string, number>
  return { id: line.id, count, ...(values.length > 0 ? { parameters } : {}) }
}

/** What POST /probe-runs takes, or what of the form is not right yet. */
export function toOrder(draft: OrderDraft): { order: ProbeRunOrder | null; wrong: Wrong } {
  const wrong: Wrong = {}
  const uses = draft.operators.map(toUse)
  const counts = parseCounts(draft.counts)
  const least = draft.copies ? 2 : 1
  const count = wholeNumber(draft.count, least)
  if (draft.what === 'operators' && draft.operators.length === 0) wrong.operators = 'runs.wrong.operators'
  if (draft.what === 'operators' && uses.includes(null)) wrong.operators = 'runs.wrong.figures'
  if (draft.what === 'task' && draft.task === '') wrong.what = 'runs.wrong.task'
  if (draft.what === 'job_type' && draft.jobType.trim() === '') wrong.what = 'runs.wrong.job_type'
  if (draft.selection === 'user' && draft.unitTypes.length === 0) wrong.unitTypes = 'runs.wrong.unit_types'
  if (draft.counting === 'one' && count === null) wrong.count = 'runs.wrong.count'
  if (draft.counting === 'several' && (counts === null || (counts[0] ?? 0) < least)) wrong.counts = 'runs.wrong.counts'
  if (Object.keys(wrong).length > 0) return { order: null, wrong }
  return {
    wrong,
    order: {
      ...(draft.what === 'operators' ? { operators: uses as OperatorUse[] } : {}),
      ...(draft.what === 'task' ? { probe_task_id: draft.task, ...(draft.force ? { force: true } : {}) } : {}),
      ...(draft.what === 'job_type' ? { job_type: draft.jobType.trim() } : {}),
      selection: draft.selection,
      ...(draft.selection === 'user' ? { unit_types: [...draft.unitTypes] } : draft.centers.length > 0 ? { centers: [...draft.centers] } : {}),
      ...(draft.counting === 'one' ? { unit_count: count ?? 1 } : {}),
      ...(draft.counting === 'several' ? { unit_counts: counts ?? [] } : {}),
      ...(draft.counting === 'scaling' || draft.counting === 'center' ? { count_by: draft.counting } : {}),
      ...(draft.copies ? { mode: 'throughput' as const } : {}),
    },
  }
}

/** The form of an order that exists, to be changed. */
export function toDraft(order: ProbeRunOrder): OrderDraft {
  const lines = (order.operators ?? []).map((use) => ({
    id: use.id, count: String(use.count ?? 1), parameters: Object.fromEntries(Object.entries(use.parameters ?? {}).map(([n, v]) => [n, String(v)])),
  }))
  const counting = order.count_by === 'scaling' || order.count_by === 'center' ? order.count_by
    : order.unit_counts ? 'several' : order.mode === 'throughput' && !order.unit_count ? 'scaling' : 'one'
  return {
    what: order.probe_task_id ? 'task' : order.job_type ? 'job_type' : lines.length > 0 ? 'operators' : 'full_benchmark',
    operators: lines, task: order.probe_task_id ?? '', force: order.force ?? false, jobType: order.job_type ?? '',
    selection: order.selection ?? 'catalog', centers: order.centers ?? [], unitTypes: order.unit_types ?? [], counting,
    count: String(order.unit_count ?? 1), counts: (order.unit_counts ?? [1, 2, 4]).join(', '),
    copies: order.mode === 'throughput',
  }
}

/** A line for an operator at its default size. */
export function lineFor(operator: Operator): OperatorLine {
  return { id: operator.id, count: '1', parameters: Object.fromEntries(operator.parameters.map((p) => [p.name, ''])) }
}
