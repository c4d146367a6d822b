export interface Difference {
  /** Where: names and indices joined by dots. */
  path: string
  /** Undefined: it is not there. */
  before: unknown
  after: unknown
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const names = ['name', 'id', 'figure', 'policy', 'resource_type', 'operator'] as const

/** Entries of a list stand for the same thing when they have the same name, whatever it is called; operators, when also their size is. */
function nameOf(value: unknown): string | null {
  if (!isObject(value)) return null
  const called = names.find((one) => typeof value[one] === 'string')
  if (!called) return null
  const size = called === 'operator' && isObject(value.parameters)
    ? Object.entries(value.parameters).map(([name, of]) => ` ${name}=${String(of)}`).join('') : ''
  return String(value[called]) + size
}

function keyed(list: readonly unknown[]): Record<string, unknown> | null {
  const names = list.map(nameOf)
  if (names.some((name) => name === null) || new Set(names).size !== names.length) return null
  return Object.fromEntries(names.map((name, i) => [name, list[i]]))
}

/** Every leaf in which two JSON values differ. Lists of named things are compared by name, other lists as a whole. */
export function diffJson(before: unknown, after: unknown, path = ''): Difference[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const a = keyed(before)
    const b = keyed(after)
    if (a && b && before.length + after.length > 0) return diffJson(a, b, path)
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
  }
  if (isObject(before) && isObject(after)) {
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return fields.flatMap((name) => diffJson(before[name], after[name], path ? `${path}.${name}` : name))
  }
  return before === after ? [] : [{ path, before, after }]
}
