// What finance and planners do: prices are set, a job is paid for, its charge is read, exported and verified; units are kept
// for a project, and a center is closed for a while.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { ask, openBrowser, openPage, signIn } from '../browser.mjs'
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

async function asAdmin(path) {
  const page = await openPage(browser, { url: network.url })
  await page.goto(network.url + path)
  await signIn(page, network.token)
  return page
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

async function until(what, holds) {
  const end = Date.now() + 300_000
  while (!(await holds())) {
    assert.ok(Date.now() < end, `waited for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** What a moment's input takes, hours from now (UTC). */
function inHours(hours) {
  return new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 16)
}

describe('money', limit, () => {
  it('begins with prices, which are compared, set and shown', async () => {
    const page = await asAdmin('/prices/new')
    const prices = { currency: 'EUR', entries: [{ center: '*', unit_type: '*', per_unit_hour: '3600.00' }], minimum_charge: '0.50' }
    await page.getByLabel('Document as JSON').fill(JSON.stringify(prices))
    await page.getByText('no price book is in force').waitFor()
    await page.getByRole('button', { name: 'Set prices…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type EUR to confirm').fill('EUR')
    await dialog.getByRole('button', { name: 'Set prices', exact: true }).click()
    await page.getByText('Set as version 1').waitFor()
    await leave(page)
  })

  it('is charged for a job, shown in a statement and exported', async () => {
    const page = await asAdmin('/billing')
    const job = await ask(page, 'POST', '/jobs', { name: 'paid', command: ['sleep', '1'], metering_wait_s: 0 })
    await until('the end of the job', async () => (await ask(page, 'GET', `/jobs/${job.id}`)).state === 'succeeded')
    await until('its charge', async () => (await ask(page, 'GET', `/jobs/${job.id}/cost`)).is_final)
    await page.reload()
    await page.getByRole('link', { name: 'paid' }).first().waitFor()

    await page.goto(`${network.url}/billing?tab=statements&name=default`)
    await page.getByText(/Total: .*EUR|Total: .*€/).waitFor()
    await page.getByRole('group', { name: 'Lines' }).getByText('unit-hours').waitFor()

    await page.getByRole('tab', { name: 'Exports' }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()])
    const text = await readFile(await download.path(), 'utf8')
    assert.match(text.split('\n')[0], /BilledCost/)
    assert.ok(text.split('\n').length > 2, text)

    await page.getByRole('tab', { name: 'Ledger', exact: true }).click()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('no faults').waitFor()
    await page.getByText(/chain of \d+ entries holds/).waitFor()
    await leave(page)
  })
})

describe('time', limit, () => {
  it('is kept for a project, and given back when its name is typed', async () => {
    const page = await asAdmin('/calendar')
    await page.getByRole('button', { name: 'Reserve units…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Project whose jobs may use them').fill('default')
    await dialog.getByLabel(/^Ends/).fill(inHours(-1))
    await dialog.getByText('Must come after the start').waitFor()
    await dialog.getByLabel(/^Ends/).fill(inHours(3))
    await dialog.getByRole('button', { name: 'Reserve', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Reservations' }).getByText('active').waitFor()

    await page.getByRole('button', { name: /^Cancel… / }).first().click()
    await page.getByLabel('Type default to confirm').fill('default')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel reservation' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('No reservation fits these filters').waitFor()
    await leave(page)
  })

  it('is taken from a center for maintenance, which is called off', async () => {
    const page = await asAdmin('/calendar')
    await page.getByRole('button', { name: 'Plan maintenance…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Center').selectOption('beta')
    await dialog.getByLabel(/^Starts/).fill(inHours(2))
    await dialog.getByLabel(/^Ends/).fill(inHours(4))
    await dialog.getByLabel('Reason').fill('new disks')
    await dialog.getByRole('button', { name: 'Plan', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Maintenance' }).getByText('new disks').waitFor()

    await page.getByRole('button', { name: /^Cancel… / }).first().click()
    await page.getByLabel('Type beta to confirm').fill('beta')
    await page.getByRole('dialog').getByRole('button', { name: 'Call off' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('No maintenance is planned').waitFor()
    await leave(page)
  })
})
