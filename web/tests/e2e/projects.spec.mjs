// Who does what in a project: an administrator makes somebody its lead, who lets others in, and gives nobody more than that.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
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

async function asAccount(name, path) {
  const page = await openPage(browser, { url: network.url })
  await page.goto(network.url + path)
  await page.getByLabel('Name').fill(name)
  await page.locator('input[name=password]').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

async function makeAccount(admin, name) {
  await admin.goto(`${network.url}/users`)
  await admin.getByRole('button', { name: 'New account…' }).first().click()
  const dialog = admin.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByText('Type one').click()
  await dialog.locator('input[type=password]').fill(password)
  await dialog.getByRole('button', { name: 'Make account' }).click()
  await admin.getByRole('group', { name: 'Users' }).getByText(name).waitFor()
}

async function addMember(page, name, role) {
  await page.getByRole('button', { name: 'Add a member…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Token').fill(name)
  await dialog.getByLabel('Role').selectOption(role)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

describe('projects', limit, () => {
  it('get their lead from an administrator', async () => {
    const admin = await asAdmin('/')
    for (const name of ['ada', 'tom']) await makeAccount(admin, name)
    await admin.goto(`${network.url}/projects`)
    await admin.getByRole('button', { name: 'New project…' }).first().click()
    await admin.getByRole('dialog').getByLabel('Name').fill('materials')
    await admin.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await admin.getByRole('heading', { level: 1, name: 'materials' }).waitFor()
    await addMember(admin, 'ada', 'lead')
    await admin.getByRole('cell', { name: 'lead', exact: true }).waitFor()
    await leave(admin)
  })

  it('are led by letting viewers and submitters in', async () => {
    const ada = await asAccount('ada', '/settings')
    await ada.getByText('In projects, whatever the role').waitFor()
    await ada.getByRole('link', { name: 'materials' }).click()
    await ada.getByRole('heading', { level: 1, name: 'materials' }).waitFor()

    await ada.getByRole('button', { name: 'Add a member…' }).click()
    assert.deepEqual(await ada.getByRole('dialog').getByLabel('Role').getByRole('option').allTextContents(), ['viewer', 'submitter'])
    assert.equal(await ada.getByRole('dialog').getByLabel('Unit-hours').count(), 0)
    await ada.keyboard.press('Escape')
    await ada.getByRole('dialog').waitFor({ state: 'detached' })
    await addMember(ada, 'tom', 'viewer')
    await ada.getByRole('cell', { name: 'viewer', exact: true }).waitFor()
    assert.equal(await ada.getByRole('button', { name: 'Remove… ada' }).count(), 0, 'leads do not put leads out')
    const [statement] = await Promise.all([ada.context().waitForEvent('page'), ada.getByRole('link', { name: 'Statement' }).click()])
    await statement.getByText('materials').first().waitFor()
    await statement.close()
    await leave(ada)

    const tom = await asAccount('tom', '/settings')
    await tom.getByRole('link', { name: 'materials' }).click()
    await tom.getByRole('heading', { level: 1, name: 'materials' }).waitFor()
    assert.equal(await tom.getByRole('heading', { name: 'Members' }).count(), 0)
    await leave(tom)
  })

  it('lose a member when its name is typed', async () => {
    const ada = await asAccount('ada', '/projects/materials')
    await ada.getByRole('button', { name: 'Remove… tom' }).click()
    await ada.getByText('tom does not see the jobs of others in materials any more.').waitFor()
    await ada.getByLabel('Type tom to confirm').fill('tom')
    await ada.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click()
    await ada.getByRole('dialog').waitFor({ state: 'detached' })
    await ada.getByRole('cell', { name: 'viewer', exact: true }).waitFor({ state: 'detached' })
    await leave(ada)
  })
})
