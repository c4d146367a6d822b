import { formatBytes } from '../../ui/format'

/** What a center says of its units, as flat names with texts: nested objects become dotted names. */
export function flatFacts(facts: unknown, prefix = ''): [string, string][] {
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return []
  return Object.entries(facts).flatMap(([name, value]): [string, string][] => {
    const path = prefix ? `${prefix}.${name}` : name
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return flatFacts(value, path)
    if (Array.isArray(value)) return [[path, value.map((v) => (typeof v === 'object' ? JSON.stringify(v) : String(v))).join(', ')]]
    return [[path, typeof value === 'number' && path.endsWith('_bytes') ? formatBytes(value) : String(value)]]
  })
}
