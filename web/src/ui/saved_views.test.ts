import { expect, it } from 'vitest'
import { isShown, mostViews, readViews, withoutView, withView } from './saved_views'

const failed = { name: 'Failed', search: '?state=failed&project=lattice', hidden: ['id'] }

it('keeps views by name, one of each name', () => {
  const views = withView(withView([], failed), { name: 'Alpha', search: '', hidden: [] })
  expect(views.map((view) => view.name)).toEqual(['Alpha', 'Failed'])
  expect(withView(views, { ...failed, search: '?state=cancelled' })).toHaveLength(2)
  expect(withoutView(views, 'Alpha')).toEqual([failed])
})

it('reads what it wrote, and nothing else', () => {
  expect(readViews(JSON.stringify([failed]))).toEqual([failed])
  expect(readViews(null)).toEqual([])
  expect(readViews('{')).toEqual([])
  expect(readViews('{"name": "no list"}')).toEqual([])
  expect(readViews(JSON.stringify([failed, { name: '' , search: '', hidden: [] }, { name: 'x', search: 1, hidden: [] }, 'text', null]))).toEqual([failed])
  expect(readViews(JSON.stringify(Array.from({ length: mostViews + 5 }, () => failed)))).toHaveLength(mostViews)
})

it('knows the view that is shown, whatever the order of its filters', () => {
  expect(isShown(failed, '?project=lattice&state=failed', new Set(['id']))).toBe(true)
  expect(isShown(failed, '?project=lattice', new Set(['id']))).toBe(false)
  expect(isShown(failed, failed.search, new Set())).toBe(false)
  expect(isShown(failed, failed.search, new Set(['type']))).toBe(false)
})
