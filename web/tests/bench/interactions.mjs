// What people do with the big lists: on which page, after what, which click or key, and how it shows that this was heard: by the
// result, or by a sign that it is on its way. `before` and `isShown` are run inside the page.

const loader = 'main p[role=status].dim'
const rows = () => document.querySelectorAll('main tbody tr').length
const headings = () => document.querySelectorAll('main thead th').length
const firstRow = () => document.querySelector('main tbody tr')?.textContent
const heading = () => document.querySelector('main h1')?.textContent
const isMenuShown = () => document.querySelector('[role=menu]') !== null

/** The text of a function in the page that waits for a loader or for something else than there was. */
function changes(what) {
  return `(earlier) => document.querySelector(${JSON.stringify(loader)}) !== null || (${what})() !== earlier`
}

const checked = () => document.querySelectorAll('main input:checked').length
const shades = () => [...document.querySelectorAll('main tbody td')].slice(0, 300).map((cell) => cell.className).join()
const options = () => document.querySelector('#palette-list').textContent
const columns = (page) => page.getByRole('button', { name: 'Columns' })
const link = (name) => (page) => page.getByRole('link', { name, exact: true })
const nthOfList = (page) => page.locator('main tbody a').nth(5)
const more = (page) => page.getByRole('button', { name: 'Load more' })

function opensColumns(list, path) {
  return { name: `${list}: open the column chooser`, path, click: columns, before: isMenuShown, isShown: isMenuShown }
}

function showsColumn(list, path, column) {
  return {
    name: `${list}: show one more column`, path, prepare: (page) => columns(page).click(),
    click: (page) => page.getByRole('menuitemcheckbox', { name: column, exact: true }), before: headings, isShown: changes(headings),
  }
}

/** A letter goes into a filter, and Enter applies it. */
function filters(list, path, label, value) {
  const typed = () => document.activeElement.value
  const field = (page) => page.locator('main').getByLabel(label, { exact: true })
  return [
    { name: `${list}: type into a filter`, path, prepare: (page) => field(page).focus(), press: value[0], before: typed, isShown: changes(typed) },
    { name: `${list}: apply a filter`, path, prepare: (page) => field(page).fill(value), press: 'Enter', before: firstRow, isShown: changes(firstRow) },
  ]
}

function nextPage(name, prepare) {
  return { name, path: '/jobs', prepare, click: more, before: rows,
    isShown: `(earlier) => document.querySelector('main [data-loading]') !== null || (${rows})() !== earlier` }
}

function goes(name, path, click) {
  return { name, path, click, before: heading, isShown: changes(heading) }
}

export function interactions({ project }) {
  return [
    ...filters('jobs', '/jobs', 'Project', project),
    opensColumns('jobs', '/jobs'),
    showsColumn('jobs', '/jobs', 'Started'),
    { name: 'jobs: select all that are shown', path: '/jobs?state=running', click: (page) => page.getByLabel('Select all that are shown'),
      before: checked, isShown: changes(checked) },
    nextPage('jobs: the next page'),
    nextPage('jobs: the next page, after ten', loadTenPages),
    goes('jobs: open a job', '/jobs?state=succeeded', nthOfList),
    goes('jobs: go to the centers', '/jobs', link('Centers')),
    { name: 'jobs: type a letter into the palette', path: '/jobs', prepare: openPalette, press: 'c', before: options, isShown: changes(options) },
    opensColumns('centers', '/centers'),
    showsColumn('centers', '/centers', 'Id'),
    goes('centers: open a center', '/centers', nthOfList),
    goes('centers: go to the jobs', '/centers', link('Jobs')),
    ...filters('unit types', '/unit-types', 'Name', 'core-fast'),
    opensColumns('unit types', '/unit-types'),
    { name: 'scores: shade across all', path: '/scores', prepare: (page) => page.getByLabel('Shades').focus(), press: 'ArrowDown',
      before: shades, isShown: changes(shades) },
  ]
}

async function loadTenPages(page) {
  for (let pages = 2; pages <= 10; pages++) {
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.waitForFunction((count) => document.querySelectorAll('main tbody tr').length >= count, pages * 50)
  }
}

async function openPalette(page) {
  await page.keyboard.press('Control+k')
  await page.locator('#palette-list').waitFor()
  await page.waitForTimeout(1500) // until the centers and jobs that it searches are there
}
