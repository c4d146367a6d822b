// A browser for tests: Debian's Chromium without its windows, which takes a quarter of the processor time; else one with them.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const places = [process.env.CHROMIUM, ...['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`)]

export function openBrowser() {
  const executablePath = places.find((path) => path && existsSync(path))
  if (!executablePath) throw new Error('no Chromium; CHROMIUM says where one is')
  return chromium.launch({ executablePath, args: [
    '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
    '--disable-domain-reliability', '--disable-features=OptimizationHints,MediaRouter', '--disable-gpu'] })
}

/**
 * A page that remembers what the console of the browser complained about, violations of the policy among them. Its scheme: light, dark,
 * or auto, as the system's (`page.emulateMedia`), which is light at first. Its time zone: the machine's, unless one is named.
 */
export async function openPage(browser, { url, size = [1440, 900], scheme = 'light', language = 'en', zone }) {
  const context = await browser.newContext({
    ...(zone ? { timezoneId: zone } : {}),
    viewport: { width: size[0], height: size[1] }, colorScheme: scheme === 'dark' ? 'dark' : 'light', ignoreHTTPSErrors: true, reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await context.addInitScript(([l, s]) => {
    if (!localStorage.getItem('fathom.language')) localStorage.setItem('fathom.language', l)
    if (!localStorage.getItem('fathom.scheme')) localStorage.setItem('fathom.scheme', s)
  }, [language, scheme])
  const page = await context.newPage()
  page.setDefaultTimeout(90_000) // machines that test are busy
  page.complaints = []
  page.on('pageerror', (error) => page.complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 40[0-9]|status of 42[0-9]/.test(message.text())) page.complaints.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) page.complaints.push(`asks elsewhere: ${request.url()}`)
  })
  await page.goto(url)
  return page
}

/** Signs in with a token where the sign-in is shown. */
export async function signIn(page, token) {
  await page.getByRole('tab').nth(1).click()
  await page.locator('input[name=token]').fill(token)
  await page.keyboard.press('Enter')
  await page.locator('nav#navigation').waitFor({ state: 'attached' })
}

/** Until the page shows what it asks for. */
export async function settled(page) {
  await page.locator('h1').waitFor()
  await page.waitForFunction(() => !document.querySelector('[data-loading]'))
}

/** Asks the server as the page does, for what a test needs and is not about. */
export function ask(page, method, path, body) {
  return page.evaluate(async ([verb, address, content]) => {
    const { csrf_token: token } = await (await fetch('/api/v1/session')).json()
    const answer = await fetch(`/api/v1${address}`, {
      method: verb, headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': token },
      ...(content ? { body: JSON.stringify(content) } : {}),
    })
    if (!answer.ok) throw new Error(`${verb} ${address}: ${await answer.text()}`)
    return answer.status === 204 ? null : answer.json()
  }, [method, path, body])
}
