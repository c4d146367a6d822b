// What a center is to offer is edited in the console, and what it lacks is shown.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 900_000 }
let network
let browser

before(async () => {
  network = await startNetwork()
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
}, limit)

async function signedIn(token = network.token) {
  const page = await openPage(browser, { url: network.url })
  await page.goto(`${network.url}/centers/alpha`)
  await signIn(page, token)
  await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor()
  return page
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

async function edit(page, document) {
  await page.getByRole('button', { name: 'Edit resources…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Unit types').fill(JSON.stringify(document))
  return dialog
}

describe('a center’s resources', limit, () => {
  it('are edited with what would change in view, and the differences are shown', async () => {
    const page = await signedIn()
    const section = page.getByRole('region', { name: 'Resources', exact: true })
    await section.getByText('The file of its agent says what it offers.').waitFor()
    const dialog = await edit(page, { unit_types: [{ name: 'gpu', resource_type: 'cuda', unit_count: 8 }, { name: 'small', unit_count: 1 }] })
    await dialog.getByRole('region', { name: 'What would change' }).getByText('"gpu"').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })

    const row = page.getByRole('row').filter({ hasText: 'fewer devices' })
    await row.getByText('"gpu" needs 8 of "cuda", but only 0 are left').waitFor({ timeout: 60_000 })
    await section.getByText('It offers what it has of that.').waitFor()
    await section.getByText('new unit type small with 1 units').waitFor({ timeout: 60_000 })
    assert.deepEqual(await violations(page), [])

    const again = await edit(page, { unit_types: [] })
    await again.getByRole('button', { name: 'Save' }).click()
    await section.getByText('The file of its agent says what it offers.').waitFor({ timeout: 60_000 })
    await leave(page)
  })

  it('are refused field by field', async () => {
    const page = await signedIn()
    const dialog = await edit(page, { unit_types: [{ name: 'a', cores_per_unit: 0 }] })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('unit_types[0].cores_per_unit').waitFor()
    await page.context().close() // the browser complains of the refused request
  })

  it('are only shown to who does not run the network', async () => {
    const page = await signedIn(network.tokens.viewer)
    await page.getByRole('region', { name: 'Resources', exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit resources…' }).count(), 0)
    await leave(page)
  })
})
