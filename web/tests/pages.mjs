// The addresses that are looked at where something has to hold on every page.
import { readdirSync, readFileSync } from 'node:fs'
import { ask } from './browser.mjs'

/**
 * The pages with tabs: the source that names these, the first one first, which no address names; their addresses; and what each of the
 * others shows in any language.
 */
const tabbedPages = [
  { source: 'jobs/job/job_page.tsx', address: /^\/jobs\/[^/]+$/,
    shows: { whatif: 'table', steps: 'h2', timeline: 'ol li', log: 'pre', cost: 'dl', operators: 'dl', data: 'table', spec: 'pre' } },
  { source: 'billing/billing_page.tsx', address: /^\/billing$/,
    shows: { statements: 'h2', exports: 'a[download]', schedules: 'p', ledger: 'h2', reconcile: 'form' } },
]

/** Those that the navigation of who is signed in leads to, a job's tabs, and the pages that differ from both. */
export async function pathsOf(page, { jobPath, centerPath }) {
  const entries = await page.locator('nav#navigation a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  return [...entries, ...pathsOfJob(jobPath), centerPath, '/scores/history?unit_type=alpha/core&operator=dgemm', '/centers?enrol=new',
    '/centers?view=map', '/nowhere']
}

/** The tabs of every job. */
export function pathsOfJob(jobPath) {
  return ['', '?tab=whatif&count=2', '?tab=timeline', '?tab=log', '?tab=cost', '?tab=operators', '?tab=spec'].map((tab) => jobPath + tab)
}

/** The tabs that only some jobs have, of one with steps and outputs, and those of billing of which no thing is to be named. */
export function pathsOfMoreTabs(jobPath) {
  return [...['?tab=steps', '?tab=data'].map((tab) => jobPath + tab),
    ...['exports', 'schedules', 'ledger', 'reconcile'].map((tab) => `/billing?tab=${tab}`)]
}

/** The things of which pages show one each, by what `pathsOfThings` calls them. */
export const thingNames = ['unitType', 'project', 'priceVersion', 'run', 'order', 'operator', 'task', 'job', 'policy', 'balancedUnit', 'cycle']

/** An address of each page that shows a single thing; a name that is not given is named. */
export function pathsOfThings(things) {
  const missing = thingNames.filter((name) => (things[name] ?? null) === null)
  if (missing.length > 0) throw new Error(`it is not said which ${missing.join(', ')} to look at`)
  return [`/unit-types/${things.unitType}`, `/projects/${things.project}`, `/prices/${things.priceVersion}`, '/prices/new',
    `/billing?tab=statements&name=${things.project}`, `/probe-runs/${things.run}`, `/probe-orders/${things.order}`, `/operators/${things.operator}`,
    `/probe-tasks/${things.task}`, `/probe-tasks/compose?job=${things.job}`, `/metric-policies/${things.policy}`, '/scores?view=table',
    `/balance/${things.balancedUnit}`, `/cycles/${things.cycle}`]
}

/** A job with all tabs, ended: its owner lets divide it, but it runs whole, as no center has both kinds of unit; and it stores a file. */
async function runInSteps(page, folder) {
  const operators = [{ id: 'dgemm', parameters: { m: 256, n: 256, k: 256 }, count: 10 }]
  const file = (path) => ({ path, url: `file://${folder}/${path}` })
  const steps = [{ name: 'make', command: ['sh', '-c', 'seq 9 >numbers.txt'], operators, hands_on: [file('numbers.txt')], out_bytes: 18 },
    { name: 'count', command: ['sh', '-c', 'wc -l <numbers.txt >count.txt'], operators }]
  const { id } = await ask(page, 'POST', '/jobs', {
    name: 'in steps', project: 'default', split: 'allowed', steps, outputs: [file('count.txt')], metering_wait_s: 0 })
  await page.goto(new URL(`/jobs/${id}`, page.url()).href)
  await page.locator('main').getByText('succeeded').first().waitFor({ timeout: 300_000 })
  return `/jobs/${id}`
}

/**
 * All addresses: those of the navigation, every tab, and one of each page that shows a single thing, of what there is in the network. It
 * needs a job that has ended, the center alpha with a measured unit type, and the folder that jobs may store outputs in; a project, a
 * price book and a job in steps are made.
 */
export async function allPaths(page, { jobPath, outputs }) {
  const first = async (path) => (await ask(page, 'GET', path)).items[0]
  await ask(page, 'PUT', '/projects/materials', { share: 1 })
  await ask(page, 'POST', '/price-books', { document: { currency: 'EUR', entries: [{ center: '*', unit_type: '*', per_unit_hour: '1.2' }] } })
  const [unitType, run, task, policy, cycle] = await Promise.all(
    ['/unit-types', '/probe-runs', '/probe-tasks', '/metric-policies', '/cycles'].map((path) => first(`${path}?page_size=1`)))
  const paths = [...await pathsOf(page, { jobPath, centerPath: '/centers/alpha' }), ...pathsOfThings({
    unitType: unitType.id, project: 'materials', priceVersion: 1, run: run.id, order: run.order_id, operator: 'dgemm', task: task.id,
    job: jobPath.split('/').pop(), policy: policy.id, balancedUnit: 'alpha/gpu0', cycle: cycle.id }),
  ...pathsOfMoreTabs(await runInSteps(page, outputs))]
  checkThatAllAreThere(paths)
  checkThatAllTabsAreThere(paths)
  return paths
}

/** A page that somebody adds is looked at, too: every address of the tables of routes has one that fits it. */
export function checkThatAllAreThere(paths) {
  const names = ['routes', 'measure_routes', 'manage_routes']
  const text = names.map((name) => readFileSync(new URL(`../src/app/${name}.ts`, import.meta.url), 'utf8')).join('')
  const routes = [...text.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1])
  const missing = routes.filter((route) => !paths.some((path) => new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`).test(path.split('?')[0])))
  if (routes.length === 0 || missing.length > 0) throw new Error(`no page of ${missing.join(', ') || 'all routes'} is looked at`)
}

const featuresFolder = new URL('../src/features/', import.meta.url)
const parsed = (path) => new URL(path, 'https://console.test')
const tabOf = (path) => parsed(path).searchParams.get('tab')
const isAt = (path, { address }) => address.test(parsed(path).pathname)
const textOf = (source) => readFileSync(new URL(source, featuresFolder), 'utf8')

/** A tab that somebody adds is looked at, too: each that a source names, but for the first, has an address, and what it shows is known. */
export function checkThatAllTabsAreThere(paths) {
  const found = readdirSync(featuresFolder, { recursive: true })
    .filter((source) => source.endsWith('.tsx') && textOf(source).includes("useFilters(['tab'"))
  const sources = new Set([...found, ...tabbedPages.map(({ source }) => source)])
  const missing = [...sources].flatMap((source) => missingTabs(source, paths))
  if (missing.length > 0) throw new Error(`no tab ${missing.join(', ')} is looked at`)
}

function missingTabs(source, paths) {
  const known = tabbedPages.find((one) => one.source === source)
  const names = /^const tabs = \[(.*)\] as const$/m.exec(textOf(source))
  if (!known || !names) return [`of ${source}`]
  const [, ...others] = names[1].match(/\w+/g)
  const isLookedAt = (tab) => known.shows[tab] && paths.some((path) => isAt(path, known) && tabOf(path) === tab)
  return others.filter((tab) => !isLookedAt(tab)).map((tab) => `${tab} of ${source}`)
}

/** Waits until the tab that the address names shows what it should: where a page has no such tab, it shows its first one. */
export async function tabShown(page, path) {
  const tab = tabOf(path)
  if (tab === null) return
  const { shows } = tabbedPages.find((one) => isAt(path, one))
  await page.locator(`[role=tabpanel][id$="-panel-${tab}"]`).locator(shows[tab]).first().waitFor()
}
