import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { en, type TextKey } from './en'
import { zh } from './zh'

const root = join(fileURLToPath(import.meta.url), '../..')
const files = readdirSync(root, { recursive: true }).map(String).filter((name) => /\.tsx?$/.test(name))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const sources = files.filter((name) => !/text\.\w\w\.ts$|\.test\.tsx?$|api\/schema\.ts$|i18n\/sentences\//.test(name)).map(read).join('\n')
const keys = Object.keys(en) as TextKey[]

/** The names of the values that a text leaves open. */
const valuesOf = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))].sort()

/** The texts in quotes that may be a key or a part of one. */
const quoted = (text: string) => new Set([...text.matchAll(/['"]([\w.-]+)['"]/g)].map((match) => match[1] ?? ''))
const literals = quoted(sources)
/** What may be put into a template: words of the sources, and those that REST says. */
const words = new Set([...literals, ...quoted(read('api/schema.ts')), ...sources.match(/\w+/g) ?? []])

/** The keys that templates make, as patterns. One that begins with what is put in fits none. */
const templates = [...sources.matchAll(/`((?:[\w.]|\$\{[^}`]*\})+)`/g)].map((match) => match[1] ?? '').filter((text) => /^\w+\..*\$\{/.test(text))
  .map((text) => new RegExp(`^${text.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '(.+)')}$`))

it('every text is shown somewhere', () => {
  const isMade = (key: string) => templates.some((template) => template.exec(key)?.slice(1).every((part) => words.has(part)))
  expect(keys.length).toBeGreaterThan(2000)
  expect(keys.filter((key) => !literals.has(key) && !isMade(key))).toEqual([])
})

it('no two features have a text of one name', () => {
  const named = files.filter((name) => name.endsWith('text.en.ts')).flatMap((name) => [...read(name).matchAll(/^ {2}'([^']+)':/gm)].map((match) => match[1] ?? ''))
  expect(named.filter((key, i) => named.indexOf(key) !== i)).toEqual([])
  expect(named.filter((key) => !(key in en))).toEqual([])
  expect(named.length).toBe(keys.length)
})

it('a text leaves the same open in each language', () => {
  expect(keys.filter((key) => String(valuesOf(en[key])) !== String(valuesOf(zh[key])))).toEqual([])
})

it('what a text leaves open is given where it is shown', () => {
  const wrong: string[] = []
  for (const [, name, given] of sources.matchAll(/\bt\('([\w.]+)'(?:\)|, \{([^{}]*)\}\))/g)) {
    // A value that has all of them under their names is not looked into.
    if (given?.includes('...')) continue
    const wanted = valuesOf(en[name as TextKey] ?? '')
    // Values such as `n: f(a, b)` are looked at by their names only.
    const names = new Set([...(given ?? '').matchAll(/(?:^|,)\s*(\w+)\s*(?=[:,]|$)/g)].map((match) => match[1]))
    const missing = wanted.filter((value) => !names.has(value))
    if (missing.length > 0) wrong.push(`${name ?? ''} lacks ${missing.join(', ')}`)
  }
  expect(wrong).toEqual([])
})

it('Chinese texts are Chinese, but for names and units that are the same', () => {
  const same = keys.filter((key) => zh[key] === en[key] && /[A-Za-z]{2}/.test(en[key].replace(/\{\w+\}/g, ''))).map((key) => en[key])
  const names = ['UTC', 'CSV', 'GPU', 'Fathom', 'PID', 'PI', 'PD', 'SHA-256', 'FLOP/s', 'b = {b} GB/s', '{by} MHz', 'Amdahl', 'Gustafson', '10 GbE',
    '100 Gb InfiniBand', 'FOCUS', 'APEL', 'sacct']
  expect(same.filter((text) => !names.includes(text))).toEqual([])
})
