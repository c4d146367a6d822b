import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { routes } from './routes'

const here = fileURLToPath(import.meta.url)
const benchmark = join(here, '../../../../tests/bench/console.py')

interface Pages {
  thingNames: readonly string[]
  pathsOfThings: (things: Record<string, string>) => string[]
  pathsOfJob: (jobPath: string) => string[]
  pathsOfMoreTabs: (jobPath: string) => string[]
  checkThatAllAreThere: (paths: readonly string[]) => void
  checkThatAllTabsAreThere: (paths: readonly string[]) => void
}
// Typed here: it belongs to the tests in a browser, which have no types.
const { thingNames, pathsOfThings, pathsOfJob, pathsOfMoreTabs, checkThatAllAreThere, checkThatAllTabsAreThere } = await import(/* @vite-ignore */ join(here, '../../../tests/pages.mjs')) as Pages

const things = Object.fromEntries(thingNames.map((name) => [name, name === 'balancedUnit' ? 'alpha/gpu0' : 'one']))
const entries = routes.filter((route) => route.entry).map((route) => route.path)

it('the tests in a browser and the benchmark look at every page', () => {
  const paths = [...entries, '/jobs/one', '/centers/alpha', '/scores/history', ...pathsOfThings(things)]
  expect(() => checkThatAllAreThere(paths)).not.toThrow()
  expect(() => checkThatAllAreThere(paths.filter((path) => path !== '/cycles/one'))).toThrow('/cycles/:id')
  expect(() => pathsOfThings({ ...things, cycle: undefined as unknown as string })).toThrow('which cycle')
})

it('the tests in a browser look at every tab', () => {
  const paths = [...pathsOfJob('/jobs/one'), ...pathsOfMoreTabs('/jobs/two'), ...pathsOfThings(things)]
  expect(() => checkThatAllTabsAreThere(paths)).not.toThrow()
  expect(() => checkThatAllTabsAreThere(paths.filter((path) => path !== '/jobs/two?tab=steps'))).toThrow('steps of jobs/job/job_page.tsx')
  expect(() => checkThatAllTabsAreThere(paths.filter((path) => path !== '/billing?tab=ledger'))).toThrow('ledger of billing/billing_page.tsx')
})

it.runIf(existsSync(benchmark))('the benchmark says which things it has for them', () => {
  const text = readFileSync(benchmark, 'utf8')
  expect(thingNames.filter((name) => !text.includes(`"${name}": `))).toEqual([])
})
