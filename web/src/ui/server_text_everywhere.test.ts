import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const sources = join(fileURLToPath(import.meta.url), '../..')

it('what the server says is translated, or told to be English, on every page', () => {
  const bare = /[>(] ?\{?[\w.?]+\.(?:last_error|error|detail|verification_detail|message|remedy|(?:state_|end_|waiting_)reason)\}?</
  const bareCell = /cell: \([^)]*\) => [\w.?]+\.(?:basis|cause|detail|(?:last_)?error|message|problem|\w+_reason)\b(?! \? )/
  const wrong = readdirSync(sources, { recursive: true }).map(String).filter((name) => name.endsWith('.tsx') && !name.endsWith('.test.tsx'))
    .flatMap((name) => readFileSync(join(sources, name), 'utf8').split('\n').filter((line) => bare.test(line.replace(/<ServerText[^>]*>\{[^}]*\}</g, '')) || bareCell.test(line))
      .map((line) => `${name}: ${line.trim()}`))
  expect(wrong).toEqual([])
})
