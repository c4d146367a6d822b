// Sub-units go from center to center by the console: asked for, granted, brought back.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 900_000 }
let network
let browser

before(async () => {
  network = await startNetwork({ subUnits: true })
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
}, limit)

async function signedIn(token = network.token) {
  const page = await openPage(browser, { url: network.url })
  await page.goto(`${network.url}/sub-units`)
  await signIn(page, token)
  await page.getByRole('heading', { level: 1, name: 'Sub-units' }).waitFor()
  return page
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

/** A row of the list of who has how many. */
function row(page, center) {
  return page.getByRole('region', { name: 'Who has how many' }).getByRole('row').filter({ hasText: center })
}

async function ask(page, { center, action, count }) {
  await page.getByRole('button', { name: 'Ask for a change…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Center').selectOption(center)
  await dialog.getByLabel('Action').selectOption(action)
  await dialog.getByLabel('Sub-units').fill(String(count))
  await dialog.getByLabel('Reason').fill('its link is busy')
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

describe('sub-units', limit, () => {
  it('go from one center to another, and back', async () => {
    const page = await signedIn()
    await row(page, 'beta').getByText('settled').waitFor({ timeout: 60_000 })
    await ask(page, { center: 'alpha', action: 'release', count: 3 })
    await page.getByText('vgpu: 3 of 16 free').waitFor({ timeout: 60_000 })
    await ask(page, { center: 'beta', action: 'gain', count: 3 })
    const grant = page.getByRole('region', { name: 'Grants' }).getByRole('row').filter({ hasText: 'alpha' }).first()
    await grant.getByText('granted', { exact: true }).waitFor({ timeout: 60_000 })
    await row(page, 'beta').getByRole('cell', { name: '11' }).first().waitFor()
    assert.deepEqual(await violations(page), [])

    await grant.getByRole('button', { name: /^Undo/ }).click()
    await page.getByRole('dialog').getByText('3 of vgpu go back from beta to alpha').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Bring them back' }).click()
    await page.getByRole('region', { name: 'Grants' }).getByText('undone').first().waitFor({ timeout: 60_000 })

    const history = page.getByRole('region', { name: 'History' })
    await history.getByRole('row').filter({ hasText: 'alpha' }).getByText('given up', { exact: true }).first().waitFor({ timeout: 60_000 })
    await history.getByRole('row').filter({ hasText: 'beta' }).getByText('gained', { exact: true }).first().waitFor({ timeout: 60_000 })
    await leave(page)
  })

  it('are only shown to who does not run the network', async () => {
    const page = await signedIn(network.tokens.viewer)
    await row(page, 'alpha').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Ask for a change…' }).count(), 0)
    await leave(page)
  })
})
