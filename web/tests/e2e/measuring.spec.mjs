// What experts do: measure some units, compose a probe task from a job that ended (M6), try and release it, keep a schedule,
// judge by another policy, and ask whether a GPU pays and what a change of the network would do.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { violations } from '../axe.mjs'
import { ask, openBrowser, openPage, signIn } from '../browser.mjs'
import { startNetwork } from '../network.mjs'

const limit = { timeout: 900_000 }
let network
let browser
let page

before(async () => {
  network = await startNetwork()
  browser = await openBrowser()
  page = await openPage(browser, { url: network.url })
  await signIn(page, network.token)
}, limit)

after(async () => {
  await browser?.close()
  await network?.stop()
}, limit)

const at = (path) => page.goto(network.url + path)

/** A solver, as its profile would tell: three sizes of products of matrices. */
async function solverThatEnded() {
  const sizes = [[128, 3000], [96, 2000], [64, 1000]]
  const operators = sizes.map(([n, count]) => ({ id: 'dgemm', parameters: { m: n, n, k: n }, count }))
  const job = await ask(page, 'POST', '/jobs', { name: 'solver', type: 'solver', command: ['true'], operators, metering_wait_s: 0 })
  for (;;) {
    const { state } = await ask(page, 'GET', `/jobs/${job.id}`)
    if (state === 'succeeded') return job.id
    assert.ok(!['failed', 'cancelled'].includes(state), state)
    await page.waitForTimeout(500)
  }
}

describe('measuring', limit, () => {
  it('measures the units that are picked, and shows their figures', async () => {
    await at('/measure?operator=dgemm')
    await page.getByLabel('m', { exact: true }).fill('128')
    await page.getByText('The ones picked here').click()
    await page.getByRole('button', { name: 'Measure', exact: true }).click()
    await page.getByText('Pick at least one unit type.').waitFor()
    await page.getByLabel('alpha/core').check()
    await page.getByRole('button', { name: 'Measure', exact: true }).click()
    await page.getByText('1 of 1 ended').waitFor()
    await at('/scores')
    await page.locator('main table').getByText('dgemm').first().waitFor()
  })

  it('tells on the page of a unit type what is known of it beside busy neighbours', async () => {
    const { items: [unitType] } = await ask(page, 'GET', '/unit-types?center=alpha')
    const { items: curves } = await ask(page, 'GET', `/load-curves?unit_type=${unitType.id}`)
    await at(`/unit-types/${unitType.id}`)
    const section = page.getByRole('region', { name: 'Beside busy neighbours' })
    // Whether jobs held other cores while it was measured is up to the host.
    if (curves.length === 0) await section.getByText('Nothing was measured beside different loads yet').waitFor()
    else await section.getByRole('table').getByText(curves[0].operator, { exact: true }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('composes a probe task from a job, tries it, and releases it', async () => {
    await at(`/probe-tasks/compose?job=${await solverThatEnded()}`)
    await page.getByRole('button', { name: 'Make the draft' }).click()
    await page.getByText('Pick at least one operator.').waitFor()
    for (const n of [1, 2, 3]) await page.getByLabel(`Select P${n} dgemm`).check()
    await page.getByLabel('Name', { exact: true }).fill('core of a solver')
    await page.getByRole('button', { name: 'Make the draft' }).click()
    await page.waitForURL(/probe-tasks\/ptk_/)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const { document } = await ask(page, 'GET', `/probe-tasks/${id}`)
    assert.deepEqual(document.operators.map((operator) => operator.count), [3, 2, 1], 'a thousandth of what the job executes')
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByRole('button', { name: 'Release' }).click()
    await page.getByText('Released', { exact: true }).waitFor()
  })

  it('shows what was learned of a type of jobs', async () => {
    await at('/job-types')
    await page.getByRole('button', { name: 'solver', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('group', { name: 'Operators of a whole job' }).getByRole('row').filter({ hasText: 'm=128' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('type'), 'solver')
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('keeps a schedule', async () => {
    await at('/probe-schedules')
    await page.getByRole('button', { name: 'Add a schedule' }).first().click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('weekly dgemm')
    await page.getByLabel('When (UTC)').fill('@weekly')
    await page.getByLabel('Add an operator').selectOption('dgemm')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'weekly dgemm', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove… weekly dgemm' }).click()
    await page.getByLabel('Type weekly dgemm to confirm').fill('weekly dgemm')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('cell', { name: 'weekly dgemm', exact: true }).waitFor({ state: 'detached' })
  })

  it('tries a policy on what was measured, activates it, and makes its next version', async () => {
    const figures = [{ figure: 'time_s', weight: 1, steps: [{ below: 1, points: 100 }, { points: 10 }] }]
    await ask(page, 'POST', '/metric-policies', { document: { id: 'by-intervals', kind: 'intervals', figures } })
    await at('/metric-policies/by-intervals')
    await page.getByRole('button', { name: 'Try against the active policy' }).click()
    await page.getByText('Measurements on one unit').waitFor()
    // There is no version before it: it is compared with the active policy.
    await page.getByLabel('Compare with').locator('option:checked', { hasText: ', active' }).waitFor({ state: 'attached' })
    await page.getByRole('group', { name: /^Differences from .* to by-intervals@1/ }).getByRole('row').filter({ hasText: 'kind' }).waitFor()
    await page.getByRole('button', { name: 'Activate…' }).click()
    await page.getByRole('dialog').getByText(/^Of \d+ unit types, against /).waitFor()
    await page.getByLabel(/^Type by-intervals@1/).fill('by-intervals@1')
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByText(/is active. It replaced/).waitFor()

    await page.getByRole('button', { name: 'Next version…' }).click()
    const dialog = page.getByRole('dialog')
    const change = async (from, to) => {
      const text = dialog.getByLabel('JSON')
      await text.fill((await text.inputValue()).replace(`"points": ${from}`, `"points": ${to}`))
    }
    await change(100, 90)
    await dialog.getByRole('button', { name: 'Try', exact: true }).click()
    await dialog.getByText(/^by-intervals@2 against by-intervals@1/).waitFor()
    await change(90, 80) // what was tried is another document now
    await dialog.getByText(/^by-intervals@2 against by-intervals@1/).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'by-intervals@2' }).waitFor()
    await page.getByRole('group', { name: 'Differences from by-intervals@1 to by-intervals@2' })
      .getByRole('row').filter({ hasText: 'figures.time_s.steps' }).filter({ hasText: '"points":80' }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('simulates a change with the jobs that there were, from an address that keeps the choices', async () => {
    await at('/simulate?changes=scale_units,alpha,,2&days=1')
    await page.getByText('Nothing has been simulated yet.').waitFor()
    await page.getByLabel('Factor').fill('0')
    await page.getByRole('button', { name: 'Simulate', exact: true }).click()
    await page.getByText('From 0.001 to 1000.').waitFor()
    await page.getByLabel('Factor').fill('3')
    await page.getByRole('button', { name: 'Simulate', exact: true }).click()
    await page.getByRole('cell', { name: 'Wait, mean', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'alpha', exact: true }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('changes'), 'scale_units,alpha,,3')
    assert.deepEqual(await violations(page), [])
  })

  it('answers whether a GPU pays, with the numbers of the specification', async () => {
    await at('/speedup')
    await page.getByRole('button', { name: /Take these numbers: 10 GbE, filter/ }).first().click()
    await page.getByText('0.9998').first().waitFor()
    await page.getByLabel('n: machines').fill('')
    await page.getByText('Fill in the numbers').waitFor()
    assert.deepEqual(page.complaints, [], 'the browser complained')
  })
})
