import type { PriceDocument } from '../../queries/price_books'

export type Parsed = { document: PriceDocument; problem: null } | { document: null; problem: { kind: 'wrong'; reason: string } | { kind: 'object' | 'missing' } }

/** A price document out of JSON, or of YAML, for which the parser is fetched. The server checks what is in it. */
export async function parsePrices(typed: string): Promise<Parsed> {
  let value: unknown
  try {
    value = /^\s*\{/.test(typed) ? JSON.parse(typed) : (await import('yaml')).parse(typed)
  } catch (error) {
    return { document: null, problem: { kind: 'wrong', reason: error instanceof Error ? error.message : String(error) } }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { document: null, problem: { kind: 'object' } }
  const fields = value as Partial<PriceDocument>
  if (typeof fields.currency !== 'string' || !Array.isArray(fields.entries)) return { document: null, problem: { kind: 'missing' } }
  return { document: value as PriceDocument, problem: null }
}

// Names in the order in which one reads them; others follow.
const order = ['currency', 'entries', 'center', 'unit_type', 'project', 'days', 'from_hour', 'to_hour', 'per_score_hour', 'per_unit_hour',
  'per_idle_reserved_unit_hour', 'bands', 'per_month', 'action', 'percent']

/** The document as one edits it. */
export function printPrices(document: PriceDocument): string {
  const rank = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1)
  const arranged = JSON.stringify(document, (_, value: unknown) => (typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => rank(a) - rank(b))) : value), 2)
  // Short lists of days and per cents on one line.
  return arranged.replace(/\[\s+((?:"[a-z]{3}"|\d+)(?:,\s+(?:"[a-z]{3}"|\d+))*)\s+\]/g, (_, items: string) => `[${items.replace(/\s+/g, ' ')}]`)
}
