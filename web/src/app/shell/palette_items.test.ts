import { expect, it } from 'vitest'
import { type PaletteItem, rank } from './palette_items'

const items: PaletteItem[] = [
  { kind: 'page', href: '/jobs', name: 'Jobs', id: '' },
  { kind: 'center', href: '/centers/alpha', name: 'alpha', id: 'ctr_1' },
  { kind: 'job', href: '/jobs/job_1', name: 'scf-alpha', id: 'job_1' },
]

it('offers pages until something is typed', () => {
  expect(rank(items, ' ').map((i) => i.href)).toEqual(['/jobs'])
})

it('finds by name and id, the closest first', () => {
  expect(rank(items, 'ALPHA').map((i) => i.href)).toEqual(['/centers/alpha', '/jobs/job_1'])
  expect(rank(items, 'job').map((i) => i.href)).toEqual(['/jobs', '/jobs/job_1'])
  expect(rank(items, 'nothing')).toEqual([])
})
