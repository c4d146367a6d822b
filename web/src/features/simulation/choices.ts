import type { TextKey } from '../../i18n/en'
import type { Values } from '../../i18n/language'
import type { NetworkChange, SimulationOrder, SimulationPolicy } from '../../queries/simulations'

export const kinds = ['scale_units', 'set_units', 'add_center', 'remove_center'] as const
export type Kind = (typeof kinds)[number]

export const policies = ['fathom', 'oracle', 'random', 'round_robin', 'least_loaded', 'peak_flops', 'benchmark', 'favourite', 'shortest_completion',
  'shortest_estimate_first', 'first_come', 'shortest_first', 'advantage_no_waiting', 'min_cost_assignment'] as const satisfies readonly SimulationPolicy[]

/** A change as its row of the form holds it; `value` is the factor, the number of units, or the center that a new one is as. */
export interface ChangeRow {
  readonly kind: Kind
  readonly center: string
  readonly unitType: string
  readonly value: string
}

/** The choices as they stand in the address; '' is what is usual. */
export const choiceNames = ['days', 'jobs', 'seed', 'policy', 'policy_after', 'changes'] as const
export type ChoiceName = (typeof choiceNames)[number]
export type Choices = Readonly<Record<ChoiceName, string>>

export const usual: Choices = { days: '7', jobs: '5000', seed: '1', policy: 'fathom', policy_after: 'fathom', changes: '' }
export const firstRow: ChangeRow = { kind: 'scale_units', center: '', unitType: '', value: '2' }

export const mostChanges = 50
const mostDays = 90
const maxJobs = 20_000
const mostUnits = 1_000_000
const mostFactor = 1000

/** What is usual in the place of what is not there. */
export function choicesOf(raw: Choices): Choices {
  return Object.fromEntries(choiceNames.map((name) => [name, raw[name] || usual[name]])) as Choices
}

/** Rows as one text of an address: "scale_units,beta,,2;remove_center,delta,,". Names may hold any character. */
export function rowsText(rows: readonly ChangeRow[]): string {
  return rows.map((row) => [row.kind, row.center, row.unitType, row.value].map(encodeURIComponent).join(',')).join(';')
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    return ''
  }
}

/** The rows of such a text; what is none of ours is left out. */
export function rowsOf(text: string): ChangeRow[] {
  return text.split(';').slice(0, mostChanges).flatMap((row) => {
    const [first, center, unitType, value] = row.split(',')
    const kind = kinds.find((one) => one === first)
    return kind ? [{ kind, center: decoded(center), unitType: decoded(unitType), value: decoded(value) }] : []
  })
}

export interface Complaint {
  key: TextKey
  values?: Values
}

/** What is wrong with a row, by its field. */
export type WrongRow = Partial<Record<'center' | 'unitType' | 'value', Complaint>>

function numberOf(text: string, low: number, high: number, isWhole: boolean): number | Complaint {
  const value = text.trim() === '' ? NaN : Number(text)
  if (!(value >= low && value <= high) || (isWhole && !Number.isInteger(value)))
    return { key: isWhole ? 'simulation.wrong.whole' : 'simulation.wrong.range', values: { low, high } }
  return value
}

function changeOf(row: ChangeRow): { change: NetworkChange | null; wrong: WrongRow } {
  const wrong: WrongRow = row.center.trim() === '' ? { center: { key: 'simulation.wrong.center' } } : {}
  const center = row.center.trim()
  const good = (change: NetworkChange) => (Object.keys(wrong).length > 0 ? { change: null, wrong } : { change, wrong })
  switch (row.kind) {
    case 'scale_units': {
      const factor = numberOf(row.value, 0.001, mostFactor, false)
      if (typeof factor !== 'number') return { change: null, wrong: { ...wrong, value: factor } }
      return good({ kind: 'scale_units', center, factor, ...(row.unitType ? { unit_type: row.unitType } : {}) })
    }
    case 'set_units': {
      const count = numberOf(row.value, 1, mostUnits, true)
      if (!row.unitType) wrong.unitType = { key: 'simulation.wrong.unit_type' }
      if (typeof count !== 'number') return { change: null, wrong: { ...wrong, value: count } }
      return good({ kind: 'set_units', center, unit_type: row.unitType, unit_count: count })
    }
    case 'add_center':
      if (!row.value) wrong.value = { key: 'simulation.wrong.center' }
      return good({ kind: 'add_center', center, like: row.value })
    case 'remove_center':
      return good({ kind: 'remove_center', center })
  }
}

export interface Checked {
  order: SimulationOrder | null
  rows: WrongRow[]
  wrong: Partial<Record<'days' | 'jobs' | 'seed' | 'changes', Complaint>>
}

function policyOf(text: string): SimulationPolicy {
  return policies.find((policy) => policy === text) ?? 'fathom'
}

/** What POST /simulations takes, or what is wrong with which choice. */
export function toOrder(choices: Choices, rows: readonly ChangeRow[]): Checked {
  const wrong: Checked['wrong'] = {}
  const read = (name: 'days' | 'jobs' | 'seed', low: number, high: number, isWhole: boolean) => {
    const value = numberOf(choices[name], low, high, isWhole)
    if (typeof value === 'number') return value
    wrong[name] = value
    return 0
  }
  const days = read('days', 0.01, mostDays, false)
  const max_jobs = read('jobs', 1, maxJobs, true)
  const seed = read('seed', 0, Number.MAX_SAFE_INTEGER, true)
  const readRows = rows.map(changeOf)
  const [policy, policy_after] = [policyOf(choices.policy), policyOf(choices.policy_after)]
  if (rows.length === 0 && policy === policy_after) wrong.changes = { key: 'simulation.wrong.nothing' }
  const changes = readRows.flatMap((row) => (row.change ? [row.change] : []))
  const isRight = Object.keys(wrong).length === 0 && changes.length === rows.length
  return { order: isRight ? { days, max_jobs, policy, policy_after, seed, changes } : null, rows: readRows.map((row) => row.wrong), wrong }
}

/** Centers by name that a row may speak of: those of the network, and those that rows before it add. */
export function centersBefore(names: readonly string[], rows: readonly ChangeRow[], at: number): string[] {
  const added = rows.slice(0, at).filter((row) => row.kind === 'add_center' && row.center !== '').map((row) => row.center)
  return [...names, ...added.filter((name) => !names.includes(name))]
}

/** The center of the network whose unit types a center of that name has: itself, or the one that it is as. */
export function originOf(rows: readonly ChangeRow[], center: string): string {
  let name = center
  for (const row of [...rows].reverse()) {
    if (row.kind === 'add_center' && row.center === name && row.value !== '') name = row.value
  }
  return name
}
