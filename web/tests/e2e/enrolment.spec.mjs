// From an empty network to two centers and the result of its first job, as a person goes who follows the console: what the dialog
// says to run is run as it stands there, by a shell, with the real agent, until the page says that the center is online.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 600_000 }
const bin = resolve(process.env.FATHOM_BIN ?? new URL('../../../build/release/bin', import.meta.url).pathname)
const config = (core) => `cores = "${core}"\n[[unit_type]]\nname = "core"\ncores_per_unit = 1\nunit_count = 1\n`
let network
let browser
let folder
const shells = []

before(async () => {
  network = await startNetwork({ empty: true })
  browser = await openBrowser()
  folder = mkdtempSync(join(tmpdir(), 'fathom-enrolment-'))
  chmodSync(folder, 0o755) // started as root, the agent becomes another user
}, limit)

after(async () => {
  for (const shell of shells) await shell.stop()
  await browser?.close()
  await network?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
}, limit)

/** What the page says has to be put in by who runs it, and where this test has a center's files; all else stays as it is shown. */
function atThisMachine(command, home) {
  const changes = [[':8444', `:${network.agent_port}`], ['/var/lib/fathom-agent', join(home, 'state')], ['/etc/fathom/agent.toml', join(home, 'agent.toml')]]
  for (const [shown, own] of changes) {
    assert.ok(command.includes(shown), `the command does not name ${shown}:\n${command}`)
    command = command.replaceAll(shown, own)
  }
  return command
}

/** A shell at the center that runs these lines. `ended` gives what they said, once they have ended. */
function openShell(lines, home) {
  const program = spawn('sh', ['-c', lines], {
    cwd: home, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (text) => { said += text })
  let isRunning = true
  const ended = new Promise((resolve) => program.once('close', (code) => {
    isRunning = false
    resolve(`ended with ${code}: ${said}`)
  }))
  return {
    ended,
    async stop() {
      if (isRunning) process.kill(-program.pid, 'SIGTERM')
      await ended
    },
  }
}

/** Does what the dialog asks for at a center that has one core, until the page says that it is online. */
async function enrol(page, center, core) {
  await page.getByRole('button', { name: 'Enrol a center' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the center').fill(center)
  await dialog.getByRole('button', { name: 'Make a token' }).click()
  await dialog.getByText('Waiting for the agent…').waitFor()
  const shown = await dialog.locator('pre').textContent()

  const home = join(folder, center)
  mkdirSync(home)
  chmodSync(home, 0o755)
  // The page says where these two come from.
  copyFileSync(network.ca, join(home, 'ca.pem'))
  writeFileSync(join(home, 'agent.toml'), config(core))
  const shell = openShell(atThisMachine(shown, home), home)
  shells.push(shell)
  const isOnline = dialog.getByText(`${center} is online.`).waitFor({ timeout: 300_000 })
  await Promise.race([isOnline, shell.ended.then((how) => { throw new Error(`what the console says to run ${how}`) })])
  const token = join(home, 'center.token')
  assert.equal(statSync(token).mode & 0o777, 0o600, 'others can read the token')
  assert.ok(shown.includes(readFileSync(token, 'utf8')))
  await dialog.getByRole('button', { name: 'Done' }).click()
}

describe('enrolment', limit, () => {
  it('by the command that the console shows, leads from an empty network to a center that is online', async () => {
    const page = await openPage(browser, { url: network.url })
    await signIn(page, network.token)
    await enrol(page, 'gamma', 0)
    const center = page.getByRole('group', { name: 'Centers' }).getByRole('row').filter({ hasText: 'gamma' })
    await center.getByText('online', { exact: true }).waitFor()
    await center.getByRole('link', { name: 'gamma', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'gamma' }).waitFor()
    await page.getByRole('region', { name: 'Unit types' }).getByText('core', { exact: true }).first().waitFor()
    assert.deepEqual(page.complaints, [], 'the browser complained')
    await page.context().close()
  })

  it('goes on to a second center, and the guide says that there is a choice now', async () => {
    const page = await openPage(browser, { url: network.url })
    await signIn(page, network.token)
    await enrol(page, 'delta', 1)
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByRole('region', { name: 'Getting started' }).getByRole('heading', { name: /^Enrol centers ?: done$/ }).waitFor()
    assert.deepEqual(page.complaints, [], 'the browser complained')
    await page.context().close()
  })

  it('is followed by the first job: the guide leads to it, and its page has the result and says why it ran there', async () => {
    const page = await openPage(browser, { url: network.url })
    await signIn(page, network.token)
    await page.getByRole('region', { name: 'Getting started' }).getByRole('link', { name: 'Submit a job', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Submit' }).waitFor()
    await page.getByLabel('Name').fill('first-job')
    await page.getByLabel('Command line').fill('sh -c "for i in 1 2; do echo result $i; done"')
    await page.getByRole('group', { name: 'Candidates' }).getByText('chosen').waitFor()
    await page.getByRole('button', { name: 'Submit job' }).click()

    await page.getByRole('heading', { level: 1, name: 'first-job' }).waitFor()
    await page.locator('main').getByText('succeeded').first().waitFor({ timeout: 300_000 })
    const chosen = page.getByRole('group', { name: 'Candidates' }).getByRole('row').filter({ hasText: 'chosen' })
    await chosen.getByRole('link', { name: /^(gamma|delta)$/ }).waitFor()
    await page.getByRole('tab', { name: 'Output' }).click()
    await page.getByText('result 2').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    const attempt = page.getByRole('group', { name: 'Attempts' }).getByRole('row').nth(1)
    await attempt.getByText('exited').waitFor()
    assert.deepEqual(page.complaints, [], 'the browser complained')
    await page.context().close()
  })
})
