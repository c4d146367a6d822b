import { formatDuration, nothing } from '../../ui/format'

/** What a result had wrong, field by field. */
export interface Fault {
  field: string
  detail: string
}

/** The figures of a finding, put apart by how they are shown. */
export interface Evidence {
  /** Names as the server has them, with texts. */
  figures: [string, string][]
  faults: Fault[]
  /** Ids of the probe runs before it that make a pattern with it. */
  runs: string[]
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return nothing
  if (typeof value === 'number' && name.endsWith('_s')) return formatDuration(value)
  if (Array.isArray(value)) return value.map((one) => textOf(name, one)).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function faultOf(value: unknown): Fault[] {
  return isFields(value) && typeof value.detail === 'string' ? [{ field: typeof value.field === 'string' ? value.field : '', detail: value.detail }] : []
}

/** What a finding rests on. What this console does not know stands among the figures. */
export function evidenceOf(evidence: unknown): Evidence {
  const fields = isFields(evidence) ? evidence : {}
  const faults = Array.isArray(fields.faults) ? fields.faults.flatMap(faultOf) : []
  const runs = Array.isArray(fields.runs_before) ? fields.runs_before.filter((run) => typeof run === 'string') : []
  const isTold = (name: string) => (name === 'faults' && faults.length > 0) || (name === 'runs_before' && runs.length > 0)
  return { figures: Object.entries(fields).filter(([name]) => !isTold(name)).map(([name, value]) => [name, textOf(name, value)]), faults, runs }
}
