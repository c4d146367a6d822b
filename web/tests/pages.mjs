// The addresses that are looked at where something has to hold on every page.
import { readFileSync } from 'node:fs'
import { ask } from './browser.mjs'

/** Those that the navigation of who is signed in leads to, a job's tabs, and the pages that differ from both. */
export async function pathsOf(page, { jobPath, centerPath }) {
  const entries = await page.locator('nav#navigation a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const tabs = ['', '?tab=whatif&count=2', '?tab=timeline', '?tab=log', '?tab=cost', '?tab=operators', '?tab=spec'].map((tab) => jobPath + tab)
  return [...entries, ...tabs, centerPath, '/scores/history?unit_type=alpha/core&operator=dgemm', '/centers?enrol=new', '/centers?view=map', '/nowhere']
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

/**
 * All addresses: those of the navigation, and one of each page that shows a single thing, of what there is in the network. It needs a job
 * that has ended and the center alpha with a measured unit type; a project and a price book are made.
 */
export async function allPaths(page, { jobPath }) {
  const first = async (path) => (await ask(page, 'GET', path)).items[0]
  await ask(page, 'PUT', '/projects/materials', { share: 1 })
  await ask(page, 'POST', '/price-books', { document: { currency: 'EUR', entries: [{ center: '*', unit_type: '*', per_unit_hour: '1.2' }] } })
  const [unitType, run, task, policy, cycle] = await Promise.all(
    ['/unit-types', '/probe-runs', '/probe-tasks', '/metric-policies', '/cycles'].map((path) => first(`${path}?page_size=1`)))
  const paths = [...await pathsOf(page, { jobPath, centerPath: '/centers/alpha' }), ...pathsOfThings({
    unitType: unitType.id, project: 'materials', priceVersion: 1, run: run.id, order: run.order_id, operator: 'dgemm', task: task.id,
    job: jobPath.split('/').pop(), policy: policy.id, balancedUnit: 'alpha/gpu0', cycle: cycle.id })]
  checkThatAllAreThere(paths)
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
