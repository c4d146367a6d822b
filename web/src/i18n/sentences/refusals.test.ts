import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type Refusal, refusalsIn } from './refusals_in_sources'
import { translateZh } from './zh'

const root = join(fileURLToPath(import.meta.url), '../../../../..')

/** The sources whose refusals REST hands on to people. */
const places = ['server', 'core/model', 'core/decide/explanation', 'core/decide/prediction', 'core/decide/probing', 'core/decide/sub_units', 'simulator/what_if',
  'core/base/clock.cpp', 'core/base/ed25519.cpp', 'core/base/json_reader.cpp']

/** Of these, what no page shows: it is said in a terminal or a log, to agents, or to programs that read events. */
const elsewhere = [
  /^server\/(app|console|events)\//, /^server\/store\/(connection_string|migrations)/, /^server\/identity\/((authority|listener_certificates|sealed_secret)\.cpp|oidc\/)/,
  /^server\/api\/(fetch_test|system_api)/, /^server\/balance\/balance_followers/,
  /^server\/centers\/(sessions\/agent_|catalog_change)/, /^server\/jobs\/attempts_/, /^server\/operators\/followed_library/, /^server\/probing\/findings\/check_result/,
  /^server\/routing\/cycles\/cycle_jobs/,
  /^core\/model\/(center|gpu_memory|probe_result)\.cpp/,
]

/** Sentences of which a function or a variable gives a part with words in it: they are in the list with each of these parts. */
const withParts = ['this token has {}{}', 'only who manages the network may {}', 'probe task {} {}', 'no center is named {}; {}',
  'staging failed: the agent of this center is too old to {}; update it']

/** What may stand where a sentence is left open. */
const samples = ['7', '7 units', 'not measured', 'exit code 7']
const mostTries = 4096

function isTranslated(refusal: Refusal): boolean {
  const open = refusal.length - 1
  for (let attempt = 0; attempt < Math.min(samples.length ** open, mostTries); ++attempt) {
    const said = refusal.map((part, i) => part + (i < open ? samples[Math.floor(attempt / samples.length ** i) % samples.length] ?? '' : '')).join('')
    if (translateZh(said) !== null) return true
  }
  return false
}

function sourcesBelow(place: string): string[] {
  if (place.endsWith('.cpp')) return [place]
  return readdirSync(join(root, place), { recursive: true }).map((name) => `${place}/${String(name)}`).filter((name) => /\.[ch]pp$/.test(name)).sort()
}

it.runIf(places.every((place) => existsSync(join(root, place))))('every refusal that the server sends to people has a translation', () => {
  const sources = places.flatMap(sourcesBelow).filter((name) => !elsewhere.some((pattern) => pattern.test(name)))
  const refusals = sources.flatMap((name) => refusalsIn(readFileSync(join(root, name), 'utf8')).map((refusal) => ({ name, refusal })))
  expect(refusals.length).toBeGreaterThan(500)
  const lacking = refusals.filter(({ refusal }) => !withParts.includes(refusal.join('{}')) && !isTranslated(refusal))
  expect([...new Set(lacking.map(({ name, refusal }) => `${name}: ${refusal.join('{}')}`))]).toEqual([])
})

it('refusals are found in all shapes in which they are written', () => {
  const found = (source: string) => refusalsIn(source).map((refusal) => refusal.join('{}'))
  expect(found('return Error{Errc::kNotFound, "no such " "job: \\"a\\""};')).toEqual(['no such job: "a"'])
  expect(found('return {Errc::kConflict, "center " + name + (is_new ? " is new" : " is " + old(name, 1))};')).toEqual(['center {} is new', 'center {} is {}'])
  expect(found('Error(Errc::kTooMany, fmt::format("{} of {{}} at {:.3g}, and {}", a, b, c))')).toEqual(['{} of {} at {}, and {}'])
  expect(found('Error(Errc::kInvalid, "the job has 1 error", {{"name", "is taken: " + name}, {field, "is required"}})'))
    .toEqual(['the job has 1 error', 'is taken: {}', 'is required'])
  expect(found('errors.push_back({path + "[" + std::to_string(i) + "]", "must be " + wanted});\nreader.fail("count", "is too large");')).toEqual(['must be {}', 'is too large'])
  expect(found('errors.push_back(\n    {field, "names " + name(a, b)});')).toEqual(['names {}'])
  expect(found('return value_or_errors(std::move(order), std::move(errors), "the order");')).toEqual(['the order has {} errors'])
  expect(found('// Error{Errc::kInvalid, "in a comment"}\nError{Errc::kInternal, "a defect"}; Error{Errc::kInvalid, text};')).toEqual([])
})

it('parts of sentences that functions give are told in Chinese', () => {
  expect(translateZh('only who manages the network may remove a lead of a project')).toBe('只有网络管理者可以移除项目负责人')
  expect(translateZh('probe task pt_1 cannot be released: its test has not ended')).toBe('探针任务 pt_1 无法发布：其测试尚未结束')
  expect(translateZh('probe task pt_1 is not released: it was refused: too slow')).toBe('探针任务 pt_1 未发布：它已被拒绝：too slow')
})

it('what was asked for too often, or too much at once, is told in Chinese', () => {
  expect(translateZh('one request may take outputs of 1000 earlier jobs at most: submit the jobs in parts')).toBe('一个请求最多可取用 1000 个先前作业的输出：请分批提交作业')
  expect(translateZh('what is known of the outputs that one request takes may have 16 MiB, URLs above all: submit the jobs in parts'))
    .toBe('一个请求所取用输出的信息（主要是 URL）最多可有 16 MiB：请分批提交作业')
  expect(translateZh('this token asks too often: it may again in 1 second')).toBe('此令牌请求过于频繁：1 秒后可再次请求')
})
