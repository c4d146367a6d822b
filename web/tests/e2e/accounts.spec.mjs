// Who may what: an account is made, signs in, gets other rights, and is put out, seen from its owner's browser and from the
// administrator's; what a page does while fathomd is away; and whose operators are taken.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 900_000 }
const password = 'a staple for a battery'
let network
let browser

before(async () => {
  network = await startNetwork({ empty: true })
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

async function signInByPassword(page, name, secret) {
  await page.getByLabel('Name').fill(name)
  await page.locator('input[name=password]').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

/** Disables, or removes: what has to be confirmed by the name. */
async function confirm(page, item, action) {
  await page.getByRole('button', { name: 'Actions ada' }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByLabel('Type ada to confirm').fill('ada')
  await page.getByRole('dialog').getByRole('button', { name: action }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

describe('accounts', limit, () => {
  it('leads from an empty network to the first center', async () => {
    const page = await asAdmin('/')
    await page.getByRole('button', { name: 'Enrol a center' }).click()
    await page.getByRole('dialog').waitFor()
    await leave(page)
  })

  it('are made, sign in, and may what their role allows', async () => {
    const admin = await asAdmin('/users')
    await admin.getByRole('button', { name: 'New account…' }).first().click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name').fill('ada')
    await dialog.getByText('Type one').click()
    await dialog.locator('input[type=password]').fill(password)
    await dialog.getByRole('button', { name: 'Make account' }).click()
    await admin.getByRole('group', { name: 'Users' }).getByText('ada').waitFor()
    await admin.locator('main').getByLabel('Role', { exact: true }).selectOption('admin')
    await admin.getByText('No account fits these filters').waitFor()
    assert.equal(new URL(admin.url()).search, '?role=admin')
    await admin.getByRole('button', { name: 'Clear the filters' }).click()
    await admin.getByRole('group', { name: 'Users' }).getByText('ada').waitFor()

    const ada = await openPage(browser, { url: network.url })
    await signInByPassword(ada, 'ada', 'something else entirely')
    await ada.getByRole('alert').waitFor()
    await signInByPassword(ada, 'ada', password)
    await ada.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    assert.equal(await ada.getByRole('link', { name: 'Users', exact: true }).count(), 0)

    await admin.goto(`${network.url}/audit-log?subject=ada`)
    await admin.getByText('account.create').first().waitFor()
    // A range that cannot be is refused; its filters stay, so that it can be put right.
    const filter = async (label, moment) => {
      await admin.getByLabel(label).fill(moment)
      await admin.getByLabel(label).press('Enter')
    }
    await filter(/^Before/, '2020-01-02T00:00')
    await admin.getByText('No act fits these filters').waitFor()
    await filter(/^From/, '2020-01-03T00:00')
    await admin.getByRole('alert').filter({ hasText: 'must be after since' }).waitFor()
    await filter(/^Before/, '2100-01-01T00:00')
    await admin.getByText('account.create').first().waitFor()
    await leave(admin)
    await leave(ada)
  })

  it('lose what they are refused at once, and find back to where they were', async () => {
    const admin = await asAdmin('/users')
    const ada = await openPage(browser, { url: network.url })
    await ada.goto(`${network.url}/jobs?state=running`)
    await signInByPassword(ada, 'ada', password)
    await ada.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()

    await confirm(admin, 'Disable…', 'Disable account')
    await ada.getByRole('link', { name: 'Overview', exact: true }).click()
    await ada.getByRole('button', { name: 'Sign in' }).waitFor()
    await signInByPassword(ada, 'ada', password)
    await ada.getByRole('alert').waitFor()
    await admin.getByRole('button', { name: 'Actions ada' }).click()
    await admin.getByRole('menuitem', { name: 'Enable' }).click()
    await admin.getByRole('group', { name: 'Users' }).getByText('enabled').waitFor()
    await signInByPassword(ada, 'ada', password)
    await ada.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

    await confirm(admin, 'Remove…', 'Remove account')
    await admin.getByText('Nobody has an account yet').waitFor()
    await leave(admin)
    await ada.context().close() // it complains, rightly: its streams were cut off
  })

  it('leave a log of which nothing is missing, also after the end that an earlier check said', async () => {
    const page = await asAdmin('/audit-log')
    await page.getByText('Verify the log').click()
    const verify = page.getByRole('button', { name: 'Verify', exact: true })
    const end = page.locator('dd code').filter({ hasText: /^\d+:[0-9a-f]{64}$/ })
    for (let tries = 0; await end.count() === 0; tries++) {
      assert.ok(tries < 60, 'acts are chained within seconds')
      if (tries > 0) await page.waitForTimeout(1000)
      await verify.click()
      await page.getByText('nothing is missing or changed').waitFor()
    }
    const noted = await end.textContent()
    const known = page.getByLabel('End that an earlier check said (optional)')
    await known.fill(noted)
    await page.getByText('nothing is missing or changed').waitFor({ state: 'detached' })
    await verify.click()
    await page.getByText('nothing is missing or changed').waitFor()
    assert.deepEqual(await violations(page), [])
    await known.fill(noted.replace(/:.*/, `:${'0'.repeat(64)}`))
    await verify.click()
    await page.getByText('the log was changed').waitFor()
    await leave(page)
  })

  it('stay signed in while fathomd restarts, and see that the page is not live meanwhile', async () => {
    const page = await asAdmin('/jobs')
    await page.getByText('Live', { exact: true }).waitFor()
    const restarted = network.restart()
    await page.getByText('Not live').waitFor()
    await restarted
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Centers', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Centers' }).waitFor()
    await page.context().close()
  })
})

describe('signing keys', limit, () => {
  it('are trusted when they are public ones, and revoked when their name is typed', async () => {
    const page = await asAdmin('/operator-keys')
    await page.getByText('No key is trusted', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Add key…' }).click()
    const dialog = page.getByRole('dialog')
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    await dialog.getByLabel('Name').fill('ada')
    await dialog.getByLabel('Public key (PEM)').fill(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await dialog.getByText('This is not one public key in PEM.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Trust it' }).isDisabled(), true)
    await dialog.getByLabel('Public key (PEM)').fill(publicKey.export({ type: 'spki', format: 'pem' }))
    await dialog.getByRole('button', { name: 'Trust it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Signing keys' }).getByText('trusted').waitFor()
    assert.deepEqual(await violations(page), [])

    await page.getByRole('button', { name: 'Revoke… ada' }).click()
    await page.getByLabel('Type ada to confirm').fill('ada')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await page.getByText('No key is trusted any more').waitFor()
    await page.getByRole('button', { name: 'Show: all' }).click()
    await page.getByRole('group', { name: 'Signing keys' }).getByText('revoked', { exact: true }).waitFor()
    await leave(page)
  })
})
