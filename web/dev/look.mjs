// Pictures of pages, to look at: FATHOM_CONSOLE=https://127.0.0.1:8443 FATHOM_TOKEN=fth_… node dev/look.mjs FOLDER PATH…
// Each in 1440×900 light English, 1440×900 dark Chinese, 390×844 light Chinese and 390×844 dark English.
import { mkdirSync } from 'node:fs'
import { openBrowser, openPage, signIn } from '../tests/browser.mjs'

const [folder, ...paths] = process.argv.slice(2)
const url = process.env.FATHOM_CONSOLE ?? 'https://127.0.0.1:8443'
mkdirSync(folder, { recursive: true })
const browser = await openBrowser()
const ways = [
  { size: [1440, 900], scheme: 'light', language: 'en' }, { size: [1440, 900], scheme: 'dark', language: 'zh' },
  { size: [390, 844], scheme: 'light', language: 'zh' }, { size: [390, 844], scheme: 'dark', language: 'en' }]
for (const way of ways.filter((w) => !process.env.ONLY || `${w.size[0]}-${w.scheme}`.includes(process.env.ONLY))) {
  const page = await openPage(browser, { url, ...way })
  await page.waitForSelector('h1')
  const name = (what) => `${folder}/${what}-${way.size[0]}-${way.scheme}-${way.language}.png`
  if (await page.getByRole('tab').count() >= 2 && await page.locator('input[name=username]').count()) {
    await page.screenshot({ path: name('sign-in') })
    await signIn(page, process.env.FATHOM_TOKEN ?? '')
  }
  for (const path of paths) {
    await page.goto(url + path)
    await page.waitForSelector('h1')
    await page.waitForTimeout(1200)
    await page.screenshot({ path: name(path.replace(/[^\w]+/g, '_') || 'home'), fullPage: true })
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    if (over > 0) console.log(`${path} ${way.size[0]}: ${over} px too wide`)
  }
  for (const complaint of page.complaints) console.log(complaint)
  await page.context().close()
}
await browser.close()
