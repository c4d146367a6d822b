import type { PriceDocument } from '../../queries/price_books'

/** One thing in which two documents differ: where it is, and what it is in each; null: not there. */
export interface Difference {
  path: string
  before: string | null
  after: string | null
}

type Fields = Record<string, unknown>

/** What a list's items are told apart by, so that another order is no difference. */
const keys: Record<string, (item: Fields) => string> = {
  entries: (item) => `${String(item.center)} / ${String(item.unit_type)}`,
  discounts: (item) => String(item.project),
  budgets: (item) => String(item.project),
}
const names: Record<string, readonly string[]> = { entries: ['center', 'unit_type'], discounts: ['project'], budgets: ['project'] }

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Amounts that are the same number written otherwise are the same. */
function isSame(a: unknown, b: unknown): boolean {
  const [x, y] = [text(a), text(b)]
  if (x === y) return true
  const trim = (s: string | null) => (s !== null && /^-?\d+\.\d+$/.test(s) ? s.replace(/\.?0+$/, '') : s)
  return trim(x) === trim(y)
}

function summary(item: Fields, name: string): string {
  return Object.entries(item).filter(([field]) => !names[name]?.includes(field)).map(([field, value]) => `${field} ${text(value) ?? ''}`).join(', ')
}

function compareLists(name: string, before: readonly Fields[], after: readonly Fields[]): Difference[] {
  const keyOf = keys[name] ?? JSON.stringify
  const [old, next] = [new Map(before.map((item) => [keyOf(item), item])), new Map(after.map((item) => [keyOf(item), item]))]
  return [...new Set([...old.keys(), ...next.keys()])].sort().flatMap((key): Difference[] => {
    const [a, b] = [old.get(key), next.get(key)]
    const path = `${name}: ${key}`
    if (!a || !b) return [{ path, before: a ? summary(a, name) : null, after: b ? summary(b, name) : null }]
    return compareFields(a, b, path, names[name])
  })
}

function compareFields(a: Fields, b: Fields, path: string, skip: readonly string[] = []): Difference[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((field) => !skip.includes(field) && !isSame(a[field], b[field]))
    .map((field) => ({ path: path ? `${path}: ${field}` : field, before: text(a[field]), after: text(b[field]) }))
}

/** In what two price documents differ, place by place and price by price; from nothing, all is new. */
export function comparePrices(before: PriceDocument | null, after: PriceDocument): Difference[] {
  const [old, next] = [(before ?? {}) as Fields, after as Fields]
  const lists = Object.keys(keys)
  const listOf = (from: Fields, name: string) => (Array.isArray(from[name]) ? (from[name] as unknown[]).filter(isFields) : [])
  return [...compareFields(old, next, '', lists), ...lists.flatMap((name) => compareLists(name, listOf(old, name), listOf(next, name)))]
}
