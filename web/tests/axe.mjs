import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules that a page keeps in one color scheme and may break in another. */
export const colorRules = ['color-contrast', 'link-in-text-block']

/** What axe finds wrong with the page as it is, by all rules or by these: one line for each element. */
export async function violations(page, rules) {
  // Evaluated through the debugger: the page's own policy lets no foreign script in.
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(source)
  const runOnly = rules ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const found = await page.evaluate((only) => window.axe.run(document, { runOnly: only, resultTypes: ['violations'] }), runOnly)
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`))
}
