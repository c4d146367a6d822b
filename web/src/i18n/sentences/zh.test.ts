import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { literalsOf } from './sentence'
import { sentencesZh, translateZh } from './zh'

const root = join(fileURLToPath(import.meta.url), '../../../../..')
const folders = ['core', 'server', 'agent', 'schema', 'simulator'].map((name) => join(root, name))

/** The texts of all sources; what the compiler joins, and a string literal's escapes, is as it is said. */
function said(): string {
  const texts = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map(String)
    .filter((name) => /\.[ch]pp$/.test(name)).map((name) => readFileSync(join(folder, name), 'utf8')))
  return texts.join('\n').replace(/"\s+"/g, '').replaceAll('\\"', '"').replaceAll('%%', '%')
}

it.runIf(folders.every(existsSync))('every sentence that is translated is one that the server says', () => {
  const sources = said()
  expect(sources.length).toBeGreaterThan(100_000)
  const unsaid = sentencesZh.filter((sentence) => literalsOf(sentence).some((literal) => !sources.includes(literal)))
  expect(unsaid.map(([english]) => english)).toEqual([])
})

it('each part of a translation is a part of its sentence, and none is lost', () => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)[:}]/g)].map((match) => match[1]).sort()
  expect(sentencesZh.filter(([english, chinese]) => String(names(english)) !== String(names(chinese)))).toEqual([])
})

it('explanations of decisions are told in Chinese', () => {
  expect(translateZh('earliest expected completion: wait 9.09 min, run 0.46 s')).toBe('预计最早完成：等待 9.09 min，运行 0.46 s')
  expect(translateZh('placed at beta/core-large: earliest start; the fastest measured among those; no. 1 of 3 waiting jobs that were decided together, by advantage'))
    .toBe('放置于 beta/core-large：最早开始；其中测得最快；一同决定的 3 个等待作业中的第 1 个，按 advantage 排序')
  expect(translateZh('waits for a unit of alpha/core, free in about 10 min')).toBe('正在等待：alpha/core 的一个单元，约 10 min 后空闲')
  expect(translateZh('alpha/core would win if you asked for the cheapest (4.20 EUR instead of 6.10 EUR, 12 min later)'))
    .toBe('若要求最便宜，alpha/core 会胜出（4.20 EUR 而不是 6.10 EUR，晚 12 min）')
  expect(translateZh('8 units, the knee of its scaling: 16 units would be 12 % slower')).toBe('8 个单元，扩展曲线的拐点：16 个单元会慢 12 %')
})

it('refusals are told in Chinese', () => {
  expect(translateZh('the job has 4 errors')).toBe('作业有 4 处错误')
  expect(translateZh('must be between 1 and 1000000, or "auto"')).toBe('必须在 1 到 1000000 之间，或为 "auto"')
  expect(translateZh('there is no center alfa; there are alpha and beta')).toBe('没有计算中心 alfa；现有 alpha and beta')
  expect(translateZh('no unit type that could run it has 100 units; the largest is alpha/core with 1')).toBe('能运行它的单元类型都没有 100 个单元；最大的是 alpha/core，有 1 个')
  expect(translateZh('has 1 unit, the job needs 100')).toBe('有 1 个单元，作业需要 100 个')
})

it('findings and advice are told in Chinese', () => {
  expect(translateZh('OpenBLAS took this processor for Prescott, whose kernels do not use what it can do.')).toBe('OpenBLAS 把此处理器当作 Prescott，其内核没有用上处理器的能力。')
  expect(translateZh('stopped at its wall-time limit of 1 s')).toBe('达到 1 s 的时间上限而停止')
})

it('a sentence that is not known, or has a part that is not, is not translated', () => {
  expect(translateZh('the moon is in the way')).toBeNull()
  expect(translateZh('earliest expected completion: by magic')).toBeNull()
})
