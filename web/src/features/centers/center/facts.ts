import { formatBytes } from '../../../ui/format'

/** An agent's facts as names with values: nested ones by dotted names, bytes as such, lists in one line. */
export function factItems(facts: Readonly<Record<string, unknown>>, prefix = ''): [string, string][] {
  return Object.entries(facts).sort(([a], [b]) => a.localeCompare(b)).flatMap(([name, value]): [string, string][] => {
    const path = prefix + name
    if (Array.isArray(value)) return [[path, value.map(String).join(', ')]]
    if (typeof value === 'object' && value !== null) return factItems(value as Record<string, unknown>, `${path}.`)
    if (typeof value === 'number' && /(^|_)bytes$/.test(name)) return [[path, formatBytes(value)]]
    return [[path, String(value)]]
  })
}
