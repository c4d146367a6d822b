// The main path against a real network: sign in, look around, submit a job, follow it to its end, read why it went where
// it did; by mouse, by keyboard alone, in both languages, and with axe on every page.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { ask, openBrowser, openPage, settled, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'
import { allPaths, tabShown } from '../pages.mjs'

const limit = { timeout: 1_200_000 }
let network
let browser
let jobPath = ''

before(async () => {
  network = await startNetwork()
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
}, limit)

async function signedIn(path = '/', ways = {}, token = network.token) {
  const page = await openPage(browser, { url: network.url, ...ways })
  if (path !== '/') await page.goto(network.url + path)
  await signIn(page, token)
  return page
}

async function leave(page) {
  assert.deepEqual(page.complaints, [], 'the browser complained')
  await page.context().close()
}

/** The way of who has no mouse. */
async function pressTo(page, target, key = 'Tab') {
  await target.waitFor()
  for (let presses = 0; presses < 200; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press(key)
  }
  throw new Error(`${key} does not lead to ${target}`)
}

async function typeOver(page, text) {
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

describe('the console', limit, () => {
  it('refuses a wrong token, and keeps the address where one wanted to go', async () => {
    const page = await openPage(browser, { url: network.url })
    await page.goto(`${network.url}/jobs?state=running`)
    await page.getByRole('tab', { name: 'Token' }).click()
    await page.getByLabel('API token').fill('fth_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'unknown, revoked or expired' }).waitFor()
    await page.getByLabel('API token').fill(network.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    assert.equal(new URL(page.url()).search, '?state=running')
    assert.equal(await page.getByLabel('State').inputValue(), 'running')
    await leave(page)
  })

  it('shows the centers, submits a job, follows it to its end and explains its place', async () => {
    const page = await signedIn()
    await page.getByRole('region', { name: 'Centers' }).getByRole('link', { name: 'alpha' }).first().waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Submit', exact: true }).click()

    await page.getByLabel('Name').fill('from-the-console')
    await page.getByLabel('Command line').fill('sh -c "for i in 1 2 3; do echo step $i; sleep 0.2; done"')
    await page.getByRole('button', { name: 'Add operator' }).click()
    const text = page.getByLabel('The job as YAML')
    assert.match(await text.inputValue(), /name: from-the-console[\s\S]*- id: dgemm/)
    await text.fill((await text.inputValue()).replace('from-the-console', 'from-its-text'))
    assert.equal(await page.getByLabel('Name').inputValue(), 'from-its-text')
    await page.getByRole('group', { name: 'Candidates' }).getByText('chosen').waitFor()
    await page.getByRole('button', { name: 'Submit job' }).click()

    await page.getByRole('heading', { level: 1, name: 'from-its-text' }).waitFor()
    jobPath = new URL(page.url()).pathname
    await page.locator('main').getByText('succeeded').first().waitFor({ timeout: 300_000 })
    await page.getByRole('group', { name: 'Candidates' }).getByText('chosen').waitFor()
    await page.getByRole('region', { name: 'Predicted against actual' }).first().waitFor()
    await page.getByRole('tab', { name: 'Output' }).click()
    await page.getByText('step 3').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('list', { name: 'Timeline' }).getByText('running').first().waitFor()
    assert.match(page.url(), /tab=timeline/)
    await page.getByRole('tab', { name: 'Specification' }).click()
    await page.locator('main pre').filter({ hasText: 'name: from-its-text' }).waitFor()
    await page.getByText('JSON', { exact: true }).click()
    await page.locator('main pre').filter({ hasText: '"name": "from-its-text"' }).waitFor()
    await leave(page)
  })

  it('has no violation of accessibility on any page, in light and in dark', async () => {
    const found = {}
    const page = await openPage(browser, { url: network.url, scheme: 'auto' })
    const look = async (name) => {
      found[`${name} light`] = await violations(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
      found[`${name} dark`] = await violations(page)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await page.getByRole('tab').first().waitFor()
    await look('sign-in')
    await page.getByRole('tab', { name: 'Token' }).click()
    await page.getByLabel('API token').waitFor()
    await look('sign-in with a token')
    await signIn(page, network.token)
    for (const path of await allPaths(page, { jobPath, outputs: network.outputs })) {
      await page.goto(network.url + path)
      await settled(page)
      await tabShown(page, path)
      await look(path)
    }
    await leave(page)
    assert.deepEqual(Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0)), {})
  })

  it('speaks Chinese, and remembers that', async () => {
    const page = await signedIn()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByText('中文').click()
    await page.getByRole('heading', { level: 1, name: '总览' }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: '总览' }).waitFor()
    await leave(page)
  })

  it('tells times in UTC or in local time, always with the zone, and remembers which', async () => {
    const page = await signedIn(jobPath, { zone: 'Asia/Shanghai' })
    const submitted = page.locator('main time').first()
    await submitted.filter({ hasText: / UTC$/ }).waitFor()
    const moment = await submitted.getAttribute('datetime')
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByText('Local', { exact: true }).click()
    await page.keyboard.press('Escape')
    await submitted.filter({ hasText: / GMT\+8$/ }).waitFor()
    assert.equal(await submitted.getAttribute('datetime'), moment)
    const hour = (await submitted.textContent()).split(' ')[1].slice(0, 2)
    assert.equal(Number(hour), (new Date(moment).getUTCHours() + 8) % 24)
    await page.reload()
    await submitted.filter({ hasText: / GMT\+8$/ }).waitFor()
    await leave(page)
  })

  it('is used by keyboard alone', async () => {
    const page = await openPage(browser, { url: network.url })
    await page.getByRole('tab').first().waitFor()
    await page.keyboard.press('Tab') // the chosen tab
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Tab')
    await page.keyboard.type(network.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('alph')
    await page.getByRole('option', { name: /alpha/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor()
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
    assert.notEqual(outline, 'none', 'what has the focus must show it')
    await leave(page)
  })

  it('offers only what the role allows', async () => {
    const page = await signedIn('/submit', {}, network.tokens.viewer)
    await page.getByRole('heading', { level: 1, name: 'Not for your role' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Submit', exact: true }).count(), 0)
    await page.goto(`${network.url}/centers/alpha`)
    await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Revoke…' }).count(), 0)
    await leave(page)
  })

  it('cancels several jobs with an outcome for each', async () => {
    const page = await signedIn()
    await ask(page, 'POST', '/jobs', [1, 2, 3].map((n) => ({ name: `sleeper-${n}`, command: ['sleep', '300'], wall_limit_s: 600 })))
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    for (const n of [1, 2, 3]) await page.getByRole('checkbox', { name: `Select sleeper-${n}` }).check()
    await page.getByRole('button', { name: 'Cancel selected…' }).click()
    await page.getByRole('button', { name: 'Cancel 3 jobs' }).click()
    await page.getByText('3 of 3 cancellations asked for').waitFor()
    await leave(page)
  })

  it('sorts jobs by a heading, counts them by group, and filters them', async () => {
    const page = await signedIn('/jobs?state=cancelled')
    const links = page.getByRole('group', { name: 'Jobs' }).getByRole('row').getByRole('link', { name: /^sleeper-/ })
    await page.getByRole('button', { name: 'Name', exact: true }).press('Enter')
    await page.getByRole('columnheader', { name: 'Name', exact: true }).and(page.locator('[aria-sort=ascending]')).waitFor()
    await page.waitForFunction(() => document.querySelector('main tbody a')?.textContent === 'sleeper-1')
    assert.deepEqual((await links.allTextContents()).slice(0, 3), ['sleeper-1', 'sleeper-2', 'sleeper-3'])
    await page.getByRole('button', { name: 'Name', exact: true }).press('Enter')
    await page.waitForFunction(() => document.querySelector('main tbody a')?.textContent === 'sleeper-3')
    assert.equal(new URL(page.url()).searchParams.get('sort'), '-name')

    await page.getByLabel('Group by').selectOption('state')
    const groups = page.getByRole('group', { name: 'Jobs by State' })
    await groups.getByRole('row').filter({ hasText: 'cancelled' }).getByText('3', { exact: true }).waitFor()
    await groups.getByRole('link', { name: 'cancelled' }).click()
    await links.first().waitFor()
    assert.equal(new URL(page.url()).searchParams.get('group'), null)

    const project = page.getByLabel('Project', { exact: true })
    await project.fill('default')
    await project.press('Enter')
    await page.waitForURL(/project=default/)
    assert.ok(await project.evaluate((element) => element === document.activeElement), 'a filter keeps the focus')
    await leave(page)
  })

  it('saves filters and columns as a view, and shows them again', async () => {
    const page = await signedIn('/jobs')
    await page.getByLabel('State').selectOption('cancelled')
    await page.getByRole('link', { name: 'sleeper-1' }).first().waitFor() // the list of these is there
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Started' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Cancelled')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'View: Cancelled' }).waitFor()

    await page.goto(`${network.url}/jobs`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitemradio', { name: 'Cancelled' }).click()
    await page.getByRole('button', { name: 'View: Cancelled' }).waitFor()
    assert.equal(new URL(page.url()).search, '?state=cancelled')
    await page.getByRole('columnheader', { name: 'Started' }).waitFor()
    await leave(page)
  })

  it('finds centers by a part of their name and by their health', async () => {
    const page = await signedIn('/centers')
    const table = page.getByRole('group', { name: 'Centers' })
    await table.getByRole('link', { name: 'beta', exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('ALP')
    await page.keyboard.press('Enter')
    await table.getByRole('link', { name: 'beta', exact: true }).waitFor({ state: 'detached' })
    await table.getByRole('link', { name: 'alpha', exact: true }).waitFor()
    assert.equal(new URL(page.url()).search, '?name=ALP')
    await page.getByLabel('Health').selectOption('revoked')
    await page.getByText('No center fits these filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await table.getByRole('link', { name: 'beta', exact: true }).waitFor()
    assert.equal(new URL(page.url()).search, '')
    await leave(page)
  })

  it('draws the centers as a map, whose nodes lead to their pages by keyboard', async () => {
    const page = await signedIn('/centers')
    await page.getByLabel('View', { exact: true }).selectOption('map')
    const map = page.getByRole('region', { name: 'Map of the network' })
    await map.getByText('2 of 2 connected').waitFor()
    await map.getByRole('link', { name: /^beta: / }).waitFor()
    assert.equal(new URL(page.url()).search, '?view=map')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForFunction(() => document.querySelector('main svg[role=group]')?.getBoundingClientRect().width <= 390)
    for (const name of [/^alpha: /, /^beta: /]) {
      const { x, width } = await map.getByRole('link', { name }).boundingBox()
      assert.ok(x >= 0 && x + width <= 390, `${name} is out of sight on a phone`)
    }
    await map.getByRole('link', { name: /^alpha: / }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor()
    await leave(page)
  })

  it('shows where a job would go if it asked for something else, and its attempts', async () => {
    const page = await signedIn(`${jobPath}?tab=whatif`)
    const comparison = page.getByRole('group', { name: 'Where it would go now' })
    await comparison.getByRole('row').filter({ hasText: 'as the job says' }).waitFor()
    await page.getByRole('group', { name: 'What if' }).getByLabel('Center').selectOption('beta')
    await comparison.getByRole('row').filter({ hasText: 'with the changes' }).getByRole('link', { name: 'beta' }).waitFor()
    await page.getByRole('textbox', { name: 'Units' }).fill('1000')
    await page.keyboard.press('Enter')
    await comparison.getByText('nowhere: no unit type can run it').waitFor()
    const asked = new URL(page.url()).searchParams
    assert.deepEqual([asked.get('center'), asked.get('count')], ['beta', '1000'])
    await page.getByRole('button', { name: 'Undo the changes' }).click()
    await comparison.getByText('with the changes').waitFor({ state: 'detached' })

    await page.getByRole('tab', { name: 'Timeline' }).click()
    const attempt = page.getByRole('group', { name: 'Attempts' }).getByRole('row').nth(1)
    await attempt.getByText('exited').waitFor()
    await attempt.getByRole('link', { name: /^(alpha|beta)$/ }).waitFor()
    await leave(page)
  })

  it('drains a center and lets it work again; revokes only after its name is typed', async () => {
    const page = await signedIn('/centers/beta')
    await page.getByRole('button', { name: 'Drain…' }).click()
    await page.getByRole('dialog').getByLabel('Reason (optional)').fill('new kernel')
    await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click()
    await page.locator('main').getByText('drained').first().waitFor()
    await page.locator('main').getByText('new kernel').first().waitFor()
    await page.getByRole('button', { name: 'Let it work again' }).click()
    await page.locator('main').getByText('online').first().waitFor()
    await page.getByRole('button', { name: 'Revoke…' }).click()
    const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true })
    assert.equal(await revoke.isDisabled(), true)
    await page.getByLabel('Type beta to confirm').fill('beta')
    assert.equal(await revoke.isDisabled(), false)
    await page.keyboard.press('Escape')
    await leave(page)
  })

  it('shows administrators how far the replacement of the authority is', async () => {
    const page = await signedIn('/authority')
    await page.getByText('none under way').waitFor()
    await page.getByText('fathom authority rotate --begin').waitFor()
    await ask(page, 'POST', '/authority:rotate', { step: 'begin' })
    await page.getByText('next: trusted, signs nothing yet').waitFor()
    await page.getByText('fathom authority rotate --switch').waitFor()
    await page.getByText('2 of 2', { exact: true }).waitFor()
    await page.getByText('None: the next step can be taken.').waitFor()
    const replicas = page.getByRole('group', { name: 'Replicas of fathomd' })
    await replicas.getByRole('row').filter({ hasText: 'what the network trusts' }).first().waitFor()
    assert.deepEqual(await violations(page), [])
    await ask(page, 'POST', '/authority:rotate', { step: 'cancel' })
    await page.getByText('none under way').waitFor()
    await leave(page)

    const viewer = await signedIn('/authority', {}, network.tokens.viewer)
    await viewer.getByRole('heading', { level: 1, name: 'Not for your role' }).waitFor()
    await leave(viewer)
  })

  it('submits a job and cancels it by keyboard alone', async () => {
    const page = await signedIn()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('submit')
    await page.getByRole('option', { name: /^Submit/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Submit' }).waitFor()
    const form = page.getByRole('region', { name: 'Form' })
    await pressTo(page, form.getByLabel('Name'))
    await typeOver(page, 'by-keyboard')
    await pressTo(page, form.getByLabel('Command line'))
    await typeOver(page, 'sleep 300')
    await pressTo(page, page.getByRole('button', { name: 'Submit job' }), 'Shift+Tab')
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { level: 1, name: 'by-keyboard' }).waitFor()
    await page.locator('main').getByText('running').first().waitFor({ timeout: 300_000 })
    await pressTo(page, page.locator('main').getByRole('button', { name: 'Cancel job' }))
    await page.keyboard.press('Enter')
    await pressTo(page, page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }))
    await page.keyboard.press('Enter')
    await page.locator('main').getByText('cancelled').first().waitFor({ timeout: 300_000 })
    await leave(page)
  })

  it('fits a telephone', async () => {
    const page = await signedIn('/', { size: [390, 844] })
    for (const path of ['/', '/jobs', '/submit', '/centers', '/centers/alpha', jobPath]) {
      await page.goto(network.url + path)
      await settled(page)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      assert.ok(over <= 0, `${path} is ${over} px too wide`)
    }
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    await leave(page)
  })
})
