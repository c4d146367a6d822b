// The browser's part of tests/bench/console: node console.mjs ORDER ANSWER. ORDER is a file of JSON with url, token, the things
// of which pages show one, the paths of more pages, and how often what is repeated; ANSWER is written.
import { readFileSync, writeFileSync } from 'node:fs'
import { violations } from '../axe.mjs'
import { openBrowser, openPage, signIn } from '../browser.mjs'
import { checkThatAllAreThere, pathsOf, pathsOfThings } from '../pages.mjs'
import { interactions } from './interactions.mjs'
import { watchContent, watchInteraction } from './watch.mjs'

const [orderFile, answerFile] = process.argv.slice(2)
const order = JSON.parse(readFileSync(orderFile, 'utf8'))
const quietMs = 500 // for so long nothing is asked for, and the content stays
const mostMs = 120_000

const say = (text) => console.log(text)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** What a page asks the server for: answers that are under way, how long they took, how many bytes came. */
class Traffic {
  constructor(page) {
    this.open = new Set()
    this.done = []
    this.quietSince = Date.now()
    // What the server goes on telling (/api/v1/events, /api/v1/centers/…/balance/events) never ends. The events of a job
    // (/api/v1/jobs/…/events) are an answer.
    const isStream = (request) => request.resourceType() === 'eventsource'
    page.on('request', (request) => {
      if (!isStream(request)) this.open.add(request)
    })
    // What a page that is left was still waiting for is never heard of again.
    page.on('framenavigated', () => this.open.clear())
    page.on('requestfailed', (request) => this.end(request))
    page.on('requestfinished', (request) => {
      this.end(request)
      if (!isStream(request)) this.done.push(request)
    })
  }

  end(request) {
    this.open.delete(request)
    if (this.open.size === 0) this.quietSince = Date.now()
  }

  isQuiet() {
    return this.open.size === 0 && Date.now() - this.quietSince >= quietMs
  }

  /** Answers of REST since the last look, the slowest first; what came from the browser's own memory is none. */
  rest() {
    const found = this.done.filter((request) => !isFile(request)).map((request) => {
      const { requestStart, responseEnd } = request.timing()
      const { pathname, search } = new URL(request.url())
      return { path: `${request.method()} ${pathname}${search}`, ms: requestStart < 0 ? 0 : responseEnd - requestStart }
    })
    this.done = []
    return found.sort((a, b) => b.ms - a.ms)
  }

  async bytes(which) {
    const sizes = await Promise.all(this.done.filter(which).map((request) => request.sizes()))
    return sizes.reduce((sum, size) => sum + size.responseBodySize, 0)
  }
}

/** The program of the console, and no answer of REST. */
function isFile(request) {
  const { pathname } = new URL(request.url())
  return pathname.startsWith('/assets/') || request.resourceType() === 'document'
}

async function newPage(browser) {
  const page = await openPage(browser, { url: order.url })
  await page.context().addInitScript(watchContent)
  return page
}

/** Waits until the content has come and nothing more is asked for. */
async function settle(page, traffic) {
  const end = Date.now() + mostMs
  while (Date.now() < end) {
    const seen = await page.evaluate(() => ({ ...window.contentSeen, now_ms: window.performance.now(), elements: document.querySelectorAll('*').length }))
    if (seen.at_ms !== null && seen.now_ms - seen.at_ms >= quietMs && traffic.isQuiet()) return seen
    await pause(50)
  }
  return null
}

/** What a first visit loads, from the sign-in to the overview, by a browser that has nothing yet. */
async function measureFirstVisit(browser) {
  const page = await browser.newPage({ ignoreHTTPSErrors: true, locale: 'en' })
  page.setDefaultTimeout(mostMs)
  await page.addInitScript(watchContent)
  const traffic = new Traffic(page)
  await page.goto(order.url)
  await page.getByRole('tab').first().waitFor()
  while (!traffic.isQuiet()) await pause(50)
  const sign_in_bytes = await traffic.bytes(isFile)
  await signIn(page, order.token)
  await settle(page, traffic)
  const found = { sign_in_bytes, file_bytes: await traffic.bytes(isFile), rest_bytes: await traffic.bytes((request) => !isFile(request)) }
  await page.close()
  return found
}

async function load(page, traffic, path) {
  traffic.rest()
  await page.goto(order.url + path)
  const seen = await settle(page, traffic)
  const [slowest] = traffic.rest()
  return { content_ms: seen?.at_ms ?? mostMs, blocked_ms: seen?.blocked_ms ?? 0, elements: seen?.elements ?? 0, slowest: slowest ?? { path: '', ms: 0 } }
}

/** Loads every page in turn, as often as is said: what disturbs for a while does not disturb all loads of one page. */
async function measurePages(page, traffic, paths) {
  const loads = new Map(paths.map((path) => [path, []]))
  for (let round = 1; round <= order.loads; round++) {
    say(`round ${round} of ${order.loads}: ${paths.length} pages`)
    for (const path of paths) {
      const one = await load(page, traffic, path)
      loads.get(path).push(one)
      say(`${path} ${Math.round(one.content_ms)} ms`)
    }
  }
  return paths.map((path) => {
    const all = loads.get(path)
    const [slowest] = all.map((one) => one.slowest).sort((a, b) => b.ms - a.ms)
    return { path, content_ms: median(all.map((one) => one.content_ms)), all_ms: all.map((one) => one.content_ms),
      blocked_ms: median(all.map((one) => one.blocked_ms)), elements: all[0].elements, slowest }
  })
}

/** @return in milliseconds: until the first frame that shows it was heard, or the browser's own figure where that is more */
async function interact(page, traffic, one) {
  await page.goto(order.url + one.path)
  await settle(page, traffic)
  await one.prepare?.(page)
  await pause(300)
  const events = JSON.stringify([one.click ? 'click' : 'keydown'])
  await page.evaluate(`(${watchInteraction})({ before: ${one.before}, isShown: ${one.isShown}, events: ${events} })`)
  if (one.click) await one.click(page).click()
  else await page.keyboard.press(one.press)
  await page.waitForFunction(() => window.interaction.frame_ms !== null)
  await pause(300) // the browser tells its own figure a little later
  const { frame_ms, event_timing_ms } = await page.evaluate(() => window.interaction)
  return { ms: Math.max(frame_ms, event_timing_ms), frame_ms, event_timing_ms }
}

async function measureInteractions(page, traffic) {
  const measured = []
  for (const one of interactions({ project: order.project })) {
    say(`${order.repeats} times ${one.name}`)
    const all = []
    for (let i = 0; i < order.repeats; i++) all.push(await interact(page, traffic, one))
    measured.push({ name: one.name, ms: median(all.map((a) => a.ms)), frame_ms: median(all.map((a) => a.frame_ms)),
      event_timing_ms: median(all.map((a) => a.event_timing_ms)) })
  }
  return measured
}

async function findViolations(page, traffic, paths) {
  const found = []
  for (const path of paths) {
    await page.goto(order.url + path)
    await settle(page, traffic)
    const began = Date.now()
    const list = await violations(page)
    say(`axe on ${path}: ${list.length} violations, in ${((Date.now() - began) / 1000).toFixed(1)} s`)
    found.push(...list.map((text) => ({ path, text })))
  }
  return found
}

async function takePictures(page, traffic) {
  for (const path of order.pictures.paths) {
    await page.goto(order.url + path)
    await settle(page, traffic)
    await page.screenshot({ path: `${order.pictures.folder}/${path.replace(/\W+/g, '_').replace(/^_/, '') || 'overview'}.png` })
  }
}

const browser = await openBrowser()
try {
  const first_visit = await measureFirstVisit(browser)
  const page = await newPage(browser)
  await signIn(page, order.token)
  const traffic = new Traffic(page)
  const paths = [...await pathsOf(page, order), ...pathsOfThings(order.things), ...order.paths]
  checkThatAllAreThere(paths)
  const pages = await measurePages(page, traffic, paths)
  const measured = await measureInteractions(page, traffic)
  if (order.pictures) await takePictures(page, traffic)
  const found = order.axe ? await findViolations(page, traffic, paths) : []
  writeFileSync(answerFile, JSON.stringify({ first_visit, pages, interactions: measured, violations: found, complaints: page.complaints }))
} finally {
  await browser.close()
}
