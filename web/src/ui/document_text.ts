import { stringify } from 'yaml'

export type Format = 'yaml' | 'json'

/** A document as people read and submit it. YAML keeps long lines whole, and a script of many lines readable. */
export function writeDocument(document: object, format: Format): string {
  return format === 'json' ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { lineWidth: 0 })
}
