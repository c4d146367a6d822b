// A picture of every page, for people to look at: in two sizes, two schemes and two languages, so that each of one kind meets each of the
// others. FATHOM_PICTURES says where they go; tests/run keeps them with its results.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, openBrowser, openPage, settled, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'
import { allPaths, tabShown } from '../pages.mjs'

const limit = { timeout: 900_000 }
const folder = process.env.FATHOM_PICTURES ?? new URL('../../test-results/pictures', import.meta.url).pathname
const drawnMs = 300 // until charts are drawn; nothing is read from a picture
let network
let browser
let paths = []

before(async () => {
  mkdirSync(folder, { recursive: true })
  network = await startNetwork()
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
  console.log(`pictures of the console: ${folder}`)
}, limit)

/** A job that has ended and one that waits for the units that a third one keeps. */
async function runJobs(page) {
  const operators = [{ id: 'dgemm', parameters: { m: 256, n: 256, k: 256 }, count: 200 }, { id: 'fft3d', parameters: { n: 32 }, count: 300 }]
  const ended = await ask(page, 'POST', '/jobs', { name: 'relaxation', project: 'default', type: 'materials/relaxation', command: ['sh', '-c', 'echo done'], operators })
  await page.goto(`${network.url}/jobs/${ended.id}`)
  await page.locator('main').getByText('succeeded').first().waitFor({ timeout: 300_000 })
  const units = { center: 'alpha', type: 'core', count: 1 }
  await ask(page, 'POST', '/jobs', { name: 'keeps alpha', project: 'default', command: ['sleep', '900'], units })
  await ask(page, 'POST', '/jobs', { name: 'waits', project: 'default', command: ['true'], units })
  return `/jobs/${ended.id}`
}

function fileOf(path, { size, scheme, language }) {
  const name = path.replace(/[a-z]{2,3}_[0-9A-Z]{26}/g, 'one').replace(/\W+/g, '_').replace(/^_/, '') || 'overview'
  return join(folder, `${name}-${size[0]}-${scheme}-${language}.png`)
}

async function takePicture(page, path, way) {
  await page.goto(network.url + path)
  await settled(page)
  await tabShown(page, path)
  await page.waitForTimeout(drawnMs)
  await page.screenshot({ path: fileOf(path, way), fullPage: true })
}

async function widerBy(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

describe('pictures of the console', limit, () => {
  it('need a network with something to show', async () => {
    const page = await openPage(browser, { url: network.url })
    await signIn(page, network.token)
    const jobPath = await runJobs(page)
    paths = await allPaths(page, { jobPath, outputs: network.outputs })
    await page.context().close()
  })

  // Two at a time: a picture is waited for more than it is computed.
  describe('in each way', { ...limit, concurrency: 2 }, () => {
    for (const way of [{ size: [1440, 900], scheme: 'light', language: 'en' }, { size: [1440, 900], scheme: 'dark', language: 'zh' },
      { size: [390, 844], scheme: 'light', language: 'zh' }, { size: [390, 844], scheme: 'dark', language: 'en' }]) {
      it(`are taken of every page, none wider than the screen: ${way.size.join('×')}, ${way.scheme}, ${way.language}`, async () => {
        const page = await openPage(browser, { url: network.url, ...way })
        await page.getByRole('tab').first().waitFor()
        await page.screenshot({ path: fileOf('/sign-in', way) })
        await signIn(page, network.token)
        const wide = []
        for (const path of paths) {
          await takePicture(page, path, way)
          const over = await widerBy(page)
          if (over > 0) wide.push(`${path} by ${over} px`)
        }
        assert.ok(paths.length > 40, 'pages are missing')
        assert.deepEqual(wide, [])
        assert.deepEqual(page.complaints, [], 'the browser complained')
        await page.context().close()
      })
    }
  })
})
