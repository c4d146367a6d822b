// The addresses that are looked at where something has to hold on every page.

/** Those that the navigation of who is signed in leads to, a job's tabs, and the pages that differ from both. */
export async function pathsOf(page, { jobPath, centerPath }) {
  const entries = await page.locator('nav#navigation a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const tabs = ['', '?tab=whatif&count=2', '?tab=timeline', '?tab=log', '?tab=cost', '?tab=operators', '?tab=spec'].map((tab) => jobPath + tab)
  return [...entries, ...tabs, centerPath, '/scores/history?unit_type=alpha/core&operator=dgemm', '/centers?enrol=new', '/nowhere']
}
