/**
 * A sentence that the server says, and its translation. In both, {name} stands for a part that is kept as it is, such as a name or a figure;
 * {name:units} for "1 unit" or "4 units"; {name:sentence} for a part that is a sentence of this list itself. | marks where the server
 * joins two parts; it stands for nothing.
 */
export type Sentence = readonly [english: string, translated: string]

export type Translator = (english: string) => string | null

interface Pattern {
  expression: RegExp
  /** The parts between literals, in their order. */
  parts: readonly { name: string; kind: string }[]
  translated: string
  literal: string
}

const part = /\{(\w+)(?::(units|sentence))?\}/g

/** The literal parts of a sentence, as they stand in the server's sources. */
export function literalsOf([english]: Sentence): string[] {
  return english.replace(part, '|').split('|').filter((literal) => literal.trim() !== '')
}

function escaped(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function patternOf([english, translated]: Sentence): Pattern {
  const parts: Pattern['parts'][number][] = []
  const plain = english.replaceAll('|', '')
  let expression = ''
  let end = 0
  for (const match of plain.matchAll(part)) {
    const [whole, name = '', kind = ''] = match
    expression += escaped(plain.slice(end, match.index)) + (kind === 'units' ? '(\\d+ units?)' : '(.+?)')
    parts.push({ name, kind })
    end = match.index + whole.length
  }
  return { expression: new RegExp(`^${expression}${escaped(plain.slice(end))}$`, 's'), parts, translated, literal: plain.replace(part, '') }
}

const mostKept = 2000
/** Sentences within sentences are followed so deep. */
const deepest = 6
/** What is longer is no sentence, but the output of a program: to look for sentences in it would take long. */
const longest = 2000

/**
 * Makes what translates the server's sentences; null is the answer for one that is not in the list. `units` says a count of units. Of
 * several that fit, the one with the longest literal text counts.
 */
export function translatorOf(sentences: readonly Sentence[], units: (count: string) => string): Translator {
  const patterns = sentences.map(patternOf).sort((a, b) => b.literal.length - a.literal.length)
  const kept = new Map<string, string | null>()
  function valueOf(kind: string, value: string, depth: number): string | null {
    if (kind === 'units') return units(value.replace(/ units?$/, ''))
    return kind === 'sentence' ? translate(value, depth + 1) : value
  }
  function fillIn(pattern: Pattern, found: readonly string[], depth: number): string | null {
    const values = new Map<string, string>()
    for (const [i, { name, kind }] of pattern.parts.entries()) {
      const value = valueOf(kind, found[i] ?? '', depth)
      if (value === null) return null
      values.set(name, value)
    }
    return pattern.translated.replace(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole)
  }
  function translate(english: string, depth: number): string | null {
    if (depth > deepest) return null
    for (const pattern of patterns) {
      const match = pattern.expression.exec(english)
      const translated = match ? fillIn(pattern, match.slice(1), depth) : null
      if (translated !== null) return translated
    }
    return null
  }
  return (english) => {
    const known = kept.get(english)
    if (known !== undefined) return known
    const translated = english.length > longest ? null : translate(english, 0)
    if (kept.size >= mostKept) kept.clear()
    kept.set(english, translated)
    return translated
  }
}
