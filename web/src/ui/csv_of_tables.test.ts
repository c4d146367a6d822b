import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const sources = join(fileURLToPath(import.meta.url), '../..')

/** Where there is nothing to save: what stands in this table is a form. */
const forms = ['features/probe_tasks/compose/compose_lines.tsx']

it('there is no table whose rows cannot be saved as CSV', () => {
  const without = readdirSync(sources, { recursive: true }).map(String).filter((name) => name.endsWith('.tsx') && !name.endsWith('.test.tsx'))
    .filter((name) => {
      const text = readFileSync(join(sources, name), 'utf8')
      return /\{ id: '\w+', title: /.test(text) && !/\bcsv: |<CsvButton /.test(text)
    })
  expect(without.sort()).toEqual(forms)
})
