import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { zh } from '../../i18n/zh'
import { actions, actionText } from './actions'

const server = join(fileURLToPath(import.meta.url), '../../../../../server')

/** The names of acts in what the server records: literals of the form noun.verb in its calls of audit() and record(). */
function recorded(): Set<string> {
  const names = new Set<string>()
  for (const file of readdirSync(server, { recursive: true }).map(String).filter((name) => name.endsWith('.cpp'))) {
    const text = readFileSync(join(server, file), 'utf8')
    for (const [call] of text.matchAll(/\b(?:audit|audit_once_an_hour|record|record_job_look)\(\*?transaction_?,[^;]*;/g)) {
      for (const [, name] of call.matchAll(/"([a-z_]+\.[a-z_]+)"/g)) names.add(name ?? '')
    }
  }
  return names
}

it.runIf(existsSync(server))('every act that the server records is offered', () => {
  const names = recorded()
  expect(names.size).toBeGreaterThan(40)
  expect([...names].filter((name) => !(actions as readonly string[]).includes(name))).toEqual([])
})

it.runIf(existsSync(server))('every step of an authority\'s replacement is offered', () => {
  const text = readFileSync(join(server, 'identity/rotation_step.cpp'), 'utf8')
  const steps = [...(/kStepNames\{([^}]*)\}/.exec(text)?.[1] ?? '').matchAll(/"(\w+)"/g)].map((match) => `authority.${match[1] ?? ''}`)
  expect(steps).toHaveLength(4)
  expect(steps.filter((name) => !(actions as readonly string[]).includes(name))).toEqual([])
})

it('an act is told in words, and one that is not known is not', () => {
  const inChinese = (key: keyof typeof zh) => zh[key]
  expect(actionText(inChinese, 'center.quarantine')).toBe('隔离计算中心')
  expect(actionText(inChinese, 'sub_units.undo')).toBe('撤销子单元授予')
  expect(actionText(inChinese, 'something.new')).toBeNull()
})
