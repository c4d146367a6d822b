// The trace of a unit's balance loop in the console: how it is switched on, then live, in both languages, schemes and small.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { ask, openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 900_000 }
let network
let browser

before(async () => {
  network = await startNetwork({ balance: true })
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
}, limit)

async function signedIn(path, ways = {}) {
  const page = await openPage(browser, { url: network.url, ...ways })
  await page.goto(network.url + path)
  await signIn(page, network.token)
  return page
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

const chart = (page) => page.getByRole('img', { name: /Error e, output u/ })

/** Waits until the newest error that the chart's label tells is this one. */
async function waitForError(page, pattern) {
  await page.getByRole('img', { name: pattern }).waitFor({ timeout: 60_000 })
}

describe('balance of units', limit, () => {
  it('says how the loop is switched on where nothing is balanced', async () => {
    const page = await signedIn('/balance')
    await page.getByText('No unit is balanced').waitFor()
    await page.getByText('enabled = true').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.goto(`${network.url}/balance/alpha/gpu0`)
    await page.getByText('No step is kept of this unit').waitFor()
    assert.deepEqual(await violations(page), [])
    await leave(page)
  })

  it('shows error, output, gains and what would be done, as it happens', async () => {
    const page = await signedIn('/balance')
    await ask(page, 'POST', '/jobs', { name: 'on-gpu', project: 'default', command: ['sleep', '900'], units: { type: 'gpu', count: 1 } })
    const link = page.getByRole('link', { name: 'gpu0' })
    await link.waitFor({ timeout: 90_000 })
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'alpha / gpu0' }).waitFor()
    await chart(page).waitFor()
    await page.locator('main').getByText('Live', { exact: true }).waitFor()
    await waitForError(page, /newest error is \+0\.5/)
    const deeds = page.getByRole('region', { name: 'What was done, and why' })
    await deeds.getByText(/^would: −\d+ MHz$/).first().waitFor({ timeout: 60_000 })
    await page.getByText('dry run').first().waitFor()
    await page.getByText('0 ± 0.05').waitFor()

    // Nothing is loaded anew: the figures come by the stream.
    await network.beBusy(0.5, 0.5)
    await waitForError(page, /newest error is [+−]0\.0/)
    await page.getByRole('region', { name: 'Now' }).getByText('in the band', { exact: true }).waitFor({ timeout: 60_000 })
    assert.deepEqual(await violations(page), [])
    await deeds.getByLabel('All steps').check()
    await deeds.getByText('in the band', { exact: true }).first().waitFor()
    assert.match(page.url(), /all=true/)
    await leave(page)
  })

  it('is reached from its center, and says when it is not live', async () => {
    const page = await signedIn('/centers/alpha')
    await page.getByRole('region', { name: 'Balanced units' }).getByRole('link', { name: 'gpu0' }).click()
    await chart(page).waitFor()
    await page.locator('main').getByText('Live', { exact: true }).waitFor()
    await page.context().setOffline(true)
    const restarted = network.restart()
    await page.locator('main').getByText('Not live').waitFor({ timeout: 60_000 })
    await page.getByText(/^Not current:/).first().waitFor()
    await restarted
    await page.context().setOffline(false)
    await page.locator('main').getByText('Live', { exact: true }).waitFor({ timeout: 90_000 })
    await page.context().close() // the browser has complained of the lost connection, rightly
  })

  for (const [language, scheme, heading] of [['zh', 'dark', '误差和输出随时间的变化'], ['en', 'light', 'Error and output over time'], ['en', 'dark', 'Error and output over time'],
    ['zh', 'light', '误差和输出随时间的变化']]) {
    it(`fits a small screen: ${language}, ${scheme}`, async () => {
      const page = await signedIn('/balance/alpha/gpu0', { size: [390, 844], language, scheme })
      await page.getByRole('heading', { level: 2, name: heading }).waitFor()
      await page.locator('main canvas').first().waitFor()
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'it is wider than the screen')
      assert.deepEqual(await violations(page), [])
      await leave(page)
    })
  }
})
