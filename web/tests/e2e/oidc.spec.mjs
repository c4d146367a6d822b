// Sign-in by a real OpenID Connect provider of another site: who gets in, as whom, and what those are told who do not.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { ask, openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'
import { openProvider, signInThere } from '../openid_provider.mjs'

const limit = { timeout: 900_000 }
const bin = process.env.FATHOM_BIN ?? new URL('../../../build/release/bin', import.meta.url).pathname
const fonts = /^https:\/\/fonts\.googleapis\.com\// // of the provider's own pages
const people = {
  ada: { groups: ['staff', 'hpc-experts'] },
  root: { groups: ['hpc-admins'] },
  bob: { groups: ['staff', 'visitors'] },
  carol: { groups: ['hpc-experts'] },
}
let provider
let network
let browser

before(async () => {
  provider = await openProvider()
  network = await startNetwork({ empty: true, settings: [...provider.settings, '--oidc-roles', 'hpc-admins=admin; hpc-experts=expert'] })
  provider.serve(network.url, people)
  browser = await openBrowser()
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
  await provider?.stop()
  provider?.remove()
}, limit)

/** A browser in which nobody has signed in anywhere, at a page of the console. */
async function open(path = '/') {
  const page = await openPage(browser, { url: network.url })
  await page.context().route(fonts, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  if (path !== '/') await page.goto(network.url + path)
  return page
}

async function begin(page) {
  await page.getByRole('link', { name: 'Sign in by Example ID' }).click()
}

async function enter(page, name) {
  await begin(page)
  await signInThere(page, name)
}

async function isRefused(page, words) {
  await page.getByRole('heading', { name: 'Not signed in' }).waitFor()
  await page.getByText(words).waitFor()
  assert.deepEqual(await violations(page), [])
}

async function leave(page) {
  const ours = (complaint) => !complaint.startsWith(`asks elsewhere: ${provider.issuer}`) && !fonts.test(complaint.replace('asks elsewhere: ', ''))
  const complaints = page.complaints.filter((complaint) => ours(complaint) && !/status of 50[23]/.test(complaint))
  assert.deepEqual(complaints, [], 'the browser complained')
  await page.context().close()
}

describe('sign-in by a provider', limit, () => {
  it('leads back to where one was, with the role of one\'s group', async () => {
    const page = await open('/jobs?state=running')
    await page.getByRole('link', { name: 'Sign in by Example ID' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await enter(page, 'ada')
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    assert.equal(new URL(page.url()).search, '?state=running')
    assert.equal(await page.getByRole('link', { name: 'Users', exact: true }).count(), 0)
    const session = (await page.context().cookies(network.url)).find((cookie) => cookie.name === '__Host-fathom')
    assert.equal(session.sameSite, 'Strict')
    assert.equal(session.httpOnly, true)

    await page.goto(`${network.url}/settings`)
    await page.getByText('a provider, whose groups give the role').waitFor()
    await page.getByText('your password is there').waitFor()
    await leave(page)
  })

  it('shows administrators where accounts come from', async () => {
    const page = await open('/users')
    await enter(page, 'root')
    await page.getByRole('group', { name: 'Users' }).getByText('ada').waitFor()
    const host = provider.issuer.replace('https://', '')
    await page.getByRole('group', { name: 'Users' }).getByText(host).first().waitFor()
    await page.getByRole('button', { name: 'Actions ada' }).click()
    await page.getByRole('menuitem', { name: 'Disable…' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'New password…' }).count(), 0)
    const table = execFileSync(`${bin}/fathom`, ['user', 'list'], {
      encoding: 'utf8', env: { ...process.env, FATHOM_URL: network.url, FATHOM_CA: network.ca, FATHOM_TOKEN: network.token } })
    assert.match(table, new RegExp(`ada +expert +active +${host}`))
    await leave(page)
  })

  it('refuses who is in no group that has a role, and says which groups came', async () => {
    const page = await open()
    await enter(page, 'bob')
    await isRefused(page, 'Example ID knows you as bob')
    assert.deepEqual(await page.getByRole('listitem').allTextContents(), ['staff', 'visitors'])
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await page.getByRole('link', { name: 'Sign in by Example ID' }).waitFor()
    await leave(page)
  })

  it('tells that the provider did not sign one in', async () => {
    const page = await open()
    await begin(page)
    await page.getByRole('link', { name: /cancel/i }).click()
    await isRefused(page, 'access_denied')
    await leave(page)
  })

  it('keeps disabled accounts out', async () => {
    const admin = await open('/users')
    await signIn(admin, network.token)
    await ask(admin, 'PATCH', '/users/ada', { disabled: true })
    const page = await open()
    await enter(page, 'ada')
    await isRefused(page, 'The account ada is disabled here.')
    await ask(admin, 'PATCH', '/users/ada', { disabled: false })
    await leave(admin)
    await leave(page)
  })

  it('takes nobody\'s name', async () => {
    const admin = await open('/users')
    await signIn(admin, network.token)
    await ask(admin, 'POST', '/users', { name: 'carol', role: 'viewer', password: 'a staple for a battery' })
    const page = await open()
    await enter(page, 'carol')
    await isRefused(page, 'has this name')
    await leave(admin)
    await leave(page)
  })

  it('is good once, and in one browser', async () => {
    const page = await open()
    let callback = ''
    page.on('request', (request) => {
      if (request.url().includes('/session/oidc/callback')) callback = request.url()
    })
    await enter(page, 'ada')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(callback)
    await isRefused(page, 'not known here any more')

    // Where a stranger's answer of the provider is brought to somebody's browser, it signs nobody in.
    const stranger = await open()
    await stranger.route('**/session/oidc/callback*', (route) => route.abort())
    const kept = stranger.waitForRequest(/session\/oidc\/callback/)
    await enter(stranger, 'root')
    const victim = await open()
    await victim.goto((await kept).url())
    await isRefused(victim, 'not known here any more')
    await stranger.context().close()
    await leave(victim)
    await leave(page)
  })

  it('ends with a sign-out', async () => {
    const page = await open()
    await enter(page, 'ada')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await ask(page, 'DELETE', '/session')
    await page.reload()
    await page.getByRole('link', { name: 'Sign in by Example ID' }).waitFor()
    await leave(page)
  })

  it('tells that the provider is away, and lets others in meanwhile', async () => {
    await provider.stop()
    await network.restart() // it remembers the provider for a while
    const page = await open()
    await begin(page)
    await isRefused(page, 'cannot reach Example ID')
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await signIn(page, network.token)
    await leave(page)
  })
})
