// Reads what the server refuses out of its C++ sources, for the test that holds it against the translations. It knows the shapes in which
// refusals are written there, and no more of C++.

/** A refusal as it stands in a source: the parts that are always the same, between which a figure or a name stands. */
export type Refusal = readonly string[]

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Where the string literal ends that begins here. */
function endOfLiteral(source: string, from: number): number {
  let at = from + 1
  while (at < source.length && source[at] !== '"') at += source[at] === '\\' ? 2 : 1
  return at + 1
}

/** Splits an expression where one of `separators` stands outside of brackets and of string literals; ends at a bracket that it did not open. */
function split(source: string, separators: string, from = 0): { parts: string[]; end: number } {
  const parts: string[] = []
  const open: string[] = []
  let begin = from
  let at = from
  while (at < source.length) {
    const character = source[at] ?? ''
    if (character === '"') {
      at = endOfLiteral(source, at)
      continue
    }
    if (source.startsWith('::', at)) {
      at += 2
      continue
    }
    if (closing[character]) open.push(closing[character])
    else if (open.length > 0 && character === open.at(-1)) open.pop()
    else if (open.length === 0 && ')]};'.includes(character)) break
    else if (open.length === 0 && separators.includes(character)) {
      parts.push(source.slice(begin, at))
      begin = at + 1
    }
    ++at
  }
  return { parts: [...parts, source.slice(begin, at)], end: at }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t' }

function unquoted(literals: string): string {
  return [...literals.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map((match) => match[1] ?? '').join('').replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
}

/** What an expression may say, a refusal for each way through its conditions. */
function saidBy(expression: string): Refusal[] {
  let text = expression.trim()
  while (text.startsWith('(') && split(text, '', 1).end === text.length - 1) text = text.slice(1, -1).trim()
  const [condition = '', ...ways] = split(text, '?').parts
  if (ways.length > 0) {
    const [first = '', ...rest] = split(text.slice(condition.length + 1), ':').parts
    return [...saidBy(first), ...saidBy(rest.join(':'))]
  }
  const terms = split(text, '+').parts
  if (terms.length > 1) {
    return terms.map(saidBy).reduce((all, next) => all.flatMap((before) => next.map((after) => joined(before, after))))
  }
  if (text.startsWith('"')) return [[unquoted(text)]]
  const wrapped = /^std::string\((".*)\)$/s.exec(text)
  if (wrapped) return saidBy(wrapped[1] ?? '')
  const format = /^fmt::format\(/.exec(text)
  if (format) {
    const [pattern = ''] = split(text, ',', format[0].length).parts
    return [unquoted(pattern).replaceAll('{{', '\u0001').replaceAll('}}', '\u0002').split(/\{[^}]*\}/).map((part) => part.replaceAll('\u0001', '{').replaceAll('\u0002', '}'))]
  }
  return [['', '']]
}

/** Two pieces of a sentence, one behind the other. */
function joined(before: Refusal, after: Refusal): Refusal {
  return [...before.slice(0, -1), (before.at(-1) ?? '') + (after[0] ?? ''), ...after.slice(1)]
}

/** Fields with what is wrong with each: `{{"name", "is required"}, …}`. */
function fieldsIn(list: string): string[] {
  return [...list.matchAll(/\{(?=\s*["\w])/g)].flatMap((match) => {
    const { parts } = split(list, ',', match.index + 1)
    return parts.length === 2 && parts[1] ? [parts[1]] : []
  })
}

/** Behind these stand the field, then what is wrong with it. */
const ofFields = /\b(?:errors_?(?:\.|->)(?:push_back\(\s*\{|emplace_back\()|FieldError\{|parameter_error\()|(?:\.|->)fail\(/g

/** What a check of several fields ends with: the fields, and last the name of what they are of. */
const ofWholes = /\b(?:value_or_errors|no_errors)\(/g

/** Each refusal that a source holds, without those that only say that something broke (kInternal). */
export function refusalsIn(source: string): Refusal[] {
  const text = source.replace(/^\s*\/\/.*$/gm, '')
  const expressions: string[] = []
  for (const match of text.matchAll(/\bErrc::k(\w+),/g)) {
    if (match[1] === 'Internal') continue
    const [said, fields] = split(text, ',', match.index + match[0].length).parts
    expressions.push(...[said ?? '', ...fieldsIn(fields ?? '')])
  }
  for (const match of text.matchAll(ofFields)) {
    const { parts } = split(text, ',', match.index + match[0].length)
    if (parts[1]) expressions.push(parts[1])
  }
  for (const match of text.matchAll(ofWholes)) {
    const name = split(text, ',', match.index + match[0].length).parts.at(-1)?.trim() ?? ''
    if (name.startsWith('"')) expressions.push(`${name} + " has " + count + " errors"`)
  }
  // Where nothing but names and figures is put together, there is nothing to translate.
  return expressions.flatMap(saidBy).filter((refusal) => /[a-z]{3}/i.test(refusal.join('')))
}
