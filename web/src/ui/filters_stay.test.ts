import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const sources = join(fileURLToPath(import.meta.url), '../..')

it('the filters of a list that is read page by page stay where the server refuses them or does not answer', () => {
  const without = readdirSync(sources, { recursive: true }).map(String).filter((name) => name.endsWith('.tsx') && !name.endsWith('.test.tsx'))
    .filter((name) => {
      const text = readFileSync(join(sources, name), 'utf8')
      return /pages=\{query\}/.test(text) && /\btools=/.test(text) && /<Ready query=\{query\}>/.test(text)
    })
  expect(without).toEqual([])
})
